import TransferCore

/// The names of a hop that must be resolved before libcurl begins.
extension Hop {
    /// Returns the hosts whose addresses libcurl needs: the server's or the proxy's, or both.
    func namesToLookUp(_ settings: ExchangeSettings) -> [String] {
        guard settings.unixSocket == nil, let origin else { return [] }
        guard let way = settings.way(to: url) else { return [origin.host] }
        let proxy = ProxyAddress(way)
        return proxy.looksUpNames ? [proxy.host] : [proxy.host, origin.host]
    }

    /// Returns the reason why a hop cannot go over a required link.
    ///
    /// libcurl would not find a name among the given addresses if it spells it differently (percent codes, punycode).
    /// libcurl would then resolve the name itself.
    func nameError(_ settings: ExchangeSettings) -> TransferError? {
        guard settings.link != nil else { return nil }
        for name in namesToLookUp(settings) where SpecialName.addresses(name) == nil {
            let isPlain = name.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-._".utf8.contains(byte)
            }
            guard isPlain else {
                return TransferError(
                    .badURL,
                    "over a required link a host has to be written in plain letters (\"xn--…\" for others): \(name)")
            }
        }
        return nil
    }
}
