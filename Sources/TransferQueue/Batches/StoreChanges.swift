import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop

/// Tells that a process wrote to the queue's database: of a folder by the kernel (inotify(7)), as no process knows of all of
/// them; of a database elsewhere it tells now and then that one may have.
final class StoreChanges: Sendable {
    private enum State {
        case idle
        case watching(Int32)
        case ended
    }

    private let state = Mutex(State.idle)

    /// Starts once, however often it's asked. Where the kernel gives no watch, only what this process does is told.
    ///
    /// - Parameters:
    ///   - folder: The database's; `nil` for one elsewhere, where whoever waits looks once a second.
    ///   - changed: Called on the loop; several changes may be told as one.
    func start(folder: String?, on loop: EventLoop, changed: @escaping @Sendable () -> Void) {
        guard let folder else { return start(every: .seconds(1), on: loop, changed: changed) }
        start(on: loop, changed: changed) {
            let descriptor = transfer_inotify_create()
            guard descriptor >= 0 else { return nil }
            guard transfer_inotify_add(descriptor, folder, UInt32(truncatingIfNeeded: TRANSFER_IN_MODIFY)) >= 0 else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
    }

    private func start(every period: Duration, on loop: EventLoop, changed: @escaping @Sendable () -> Void) {
        let arm: @Sendable (Int32) -> Void = { _ = transfer_timerfd_set($0, (MonotonicTime.now + period).nanoseconds) }
        start(on: loop, changed: changed, again: arm) {
            let descriptor = transfer_timerfd()
            guard descriptor >= 0 else { return nil }
            arm(descriptor)
            return descriptor
        }
    }

    private func start(
        on loop: EventLoop, changed: @escaping @Sendable () -> Void,
        again: @escaping @Sendable (Int32) -> Void = { _ in }, _ open: () -> Int32?
    ) {
        let descriptor: Int32? = state.withLock { state -> Int32? in
            guard case .idle = state, let descriptor = open() else { return nil }
            state = .watching(descriptor)
            return descriptor
        }
        guard let descriptor else { return }
        loop.execute {
            loop.register(descriptor, for: .readable) { _ in
                Self.drain(descriptor)
                again(descriptor)
                changed()
            }
        }
    }

    func stop(on loop: EventLoop) {
        let descriptor: Int32? = state.withLock { state -> Int32? in
            defer { state = .ended }
            if case .watching(let descriptor) = state { return descriptor }
            return nil
        }
        guard let descriptor else { return }
        loop.execute {
            loop.unregister(descriptor)
            close(descriptor)
        }
    }

    /// Which files they are of makes no difference: all that is in the folder is the database's.
    private static func drain(_ descriptor: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
