import Synchronization
import TransferEngine

/// The last answer whose body began: written on a loop, read when the exchange has ended.
final class BodyStartNote: Sendable {
    private let start = Mutex<BodyStart?>(nil)

    var body: BodyStart? { start.withLock { $0 } }

    func note(_ body: BodyStart) { start.withLock { $0 = body } }
}
