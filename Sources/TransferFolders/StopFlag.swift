import Synchronization

/// Tells workers in the midst of something long that it isn't wanted any more.
package final class StopFlag: Sendable {
    private let flag = Atomic(false)

    package var isSet: Bool { flag.load(ordering: .acquiring) }

    package func set() { flag.store(true, ordering: .releasing) }
}
