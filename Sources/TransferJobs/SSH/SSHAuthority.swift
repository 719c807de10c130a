import TransferCore

/// The authority of an `sftp` URL: the server's name, and the port where the URL has one.
struct SSHAuthority: Sendable, Hashable {
    let host: String
    let port: Int?
    /// The range of host and port in the URL.
    private let range: Range<String.Index>

    /// Parses a URL; `nil` for one of another kind.
    init?(_ url: String) {
        guard let origin = Origin(fileServerURL: url), origin.scheme == "sftp",
            let start = url.firstRange(of: "://")?.upperBound
        else { return nil }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let place = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        let name = place.last == "]" ? nil : place.lastIndex(of: ":")
        host = origin.host
        // The scheme's own port counts where it is written.
        port = name.flatMap { place[$0...].count > 1 ? origin.port : nil }
        range = place.startIndex..<place.endIndex
    }

    /// Returns the URL with the name and the port of ssh's configuration.
    func url(_ url: String, at settings: SSHHostSettings) -> String {
        guard settings.hostName != nil || settings.port != port else { return url }
        let name = settings.hostName ?? host
        let host = name.contains(":") ? "[\(name)]" : name
        var url = url
        url.replaceSubrange(range, with: settings.port.map { "\(host):\($0)" } ?? host)
        return url
    }
}
