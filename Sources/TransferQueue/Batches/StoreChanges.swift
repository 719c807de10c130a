import CTransferLinux
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop

/// The notice that a process wrote to the queue's database. For a folder it comes from the kernel (inotify(7)), because
/// no process knows all others. For a database elsewhere it comes periodically, as a hint.
final class StoreChanges: Sendable {
    private enum State {
        case idle
        case watching(Int32)
        case ended
    }

    private let state = Mutex(State.idle)

    /// Starts once, however often it is called. If the kernel gives no watch, only changes by this process are noticed.
    ///
    /// - Parameters:
    ///   - folder: The database's folder; `nil` for a database elsewhere, which is polled once a second.
    ///   - changed: A function that is called on the loop, possibly once for several changes.
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

    /// Drains the notices. The names of files do not matter, because all files in the folder belong to the database.
    private static func drain(_ descriptor: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
