import Synchronization

/// The largest observed number.
final class Peak: Sendable {
    private let highest = Mutex(0)
    var value: Int { highest.withLock { $0 } }
    func note(_ number: Int) { highest.withLock { $0 = max($0, number) } }
}
