/// Jobs of one batch that speak to one origin under the same rules of the network: what is claimed together.
package struct Lane: Sendable, Hashable {
    package let batch: Int64
    package let origin: String
    /// The rules (`NetworkPolicy.key`).
    package let network: String

    package init(batch: Int64, origin: String, network: String = "") {
        self.batch = batch
        self.origin = origin
        self.network = network
    }
}
