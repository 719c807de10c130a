import CTransferLinux
import Glibc

/// Ends what another thread waits for: a descriptor that is polled beside others, readable once it was signalled.
public final class Interrupt: Sendable {
    /// -1 where the system has no descriptor left: poll(2) passes over it, and the wait has its own bound.
    let descriptor: Int32

    public init() { descriptor = transfer_eventfd() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// From any thread; it stays signalled.
    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }
}
