package import TransferScheduling

/// The rules that all processes of a queue keep together; asked by the store's worker, as ``JobStore`` is.
package protocol SharedRules: Sendable {
    /// Gives times for starts at origins (``/TransferScheduling/SharedStarts``), which no other process gets.
    func reserveStarts(_ asks: [SharedStarts.Ask]) throws -> [SharedStarts.Given]
    /// Gives places at origins (``/TransferScheduling/SharedPlaces``), and takes back what isn't wanted any more.
    func sharePlaces(_ asks: [SharedPlaces.Ask]) throws -> [SharedPlaces.Given]
}
