/// Jobs of one batch that speak to one origin under the same rules of the network, and that the same workers may do: what is
/// claimed together.
package struct Lane: Sendable, Hashable {
    package let batch: Int64
    package let origin: String
    /// The rules (`NetworkPolicy.key`).
    package let network: String
    /// The tags that a worker needs for them (`WorkerTags.text`); of a queue that several workers share.
    package let tags: String

    package init(batch: Int64, origin: String, network: String = "", tags: String = "") {
        self.batch = batch
        self.origin = origin
        self.network = network
        self.tags = tags
    }

    /// The same jobs' lane at another of their servers.
    package func turned(to origin: String) -> Lane {
        Lane(batch: batch, origin: origin, network: network, tags: tags)
    }
}
