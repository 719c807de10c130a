import CTransferLinux
import Glibc

/// A signal that ends another thread's wait: a descriptor to poll beside others, readable once it was signalled.
public final class Interrupt: Sendable {
    /// The descriptor, or -1 where the system has none left: poll(2) ignores it, and the wait has its own bound.
    let descriptor: Int32

    /// Creates an interrupt that is not signalled.
    public init() { descriptor = transfer_eventfd() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Signals the interrupt, from any thread; it stays signalled.
    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }
}
