package import TransferScheduling

/// The rules that all processes of a queue keep together; asked by the store's worker, as ``JobStore`` is.
package protocol SharedRules: Sendable {
    /// Gives times for starts at origins (``/TransferScheduling/SharedRateTokens``), which no other process gets.
    func reserveStarts(_ asks: [SharedRateTokens.Ask]) throws -> [SharedRateTokens.Given]
    /// Gives places at origins (``/TransferScheduling/SharedPermits``), and takes back what isn't wanted any more.
    func sharePlaces(_ asks: [SharedPermits.Ask]) throws -> [SharedPermits.Given]
}
