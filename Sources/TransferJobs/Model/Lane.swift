/// The jobs of one batch that contact one origin under the same network rules and may run on the same workers. They are
/// claimed together.
package struct Lane: Sendable, Hashable {
    package let batch: Int64
    package let origin: String
    /// The network rules (`NetworkPolicy.key`).
    package let network: String
    /// The tags that a worker needs (`WorkerTags.text`), in a queue that several workers share.
    package let tags: String

    package init(batch: Int64, origin: String, network: String = "", tags: String = "") {
        self.batch = batch
        self.origin = origin
        self.network = network
        self.tags = tags
    }

    /// Returns the lane of the same jobs at another of their servers.
    package func turned(to origin: String) -> Lane {
        Lane(batch: batch, origin: origin, network: network, tags: tags)
    }
}
