package import TransferScheduling

/// The rules that all processes of a queue keep together. The store's worker asks them, as it asks ``JobStore``.
package protocol SharedRules: Sendable {
    /// Gives times for starts at origins (``/TransferScheduling/SharedRateTokens``), which no other process gets.
    func reserveStarts(_ asks: [SharedRateTokens.Ask]) throws -> [SharedRateTokens.Given]
    /// Gives places at origins (``/TransferScheduling/SharedPermits``), and takes back those that are no longer wanted.
    func sharePlaces(_ asks: [SharedPermits.Ask]) throws -> [SharedPermits.Given]
}
