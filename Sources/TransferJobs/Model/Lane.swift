/// Jobs of one batch that speak to one origin under the same rules of the network: what is claimed together.
struct Lane: Sendable, Hashable {
    let batch: Int64
    let origin: String
    /// The rules (`NetworkPolicy.key`).
    let network: String

    init(batch: Int64, origin: String, network: String = "") {
        self.batch = batch
        self.origin = origin
        self.network = network
    }
}
