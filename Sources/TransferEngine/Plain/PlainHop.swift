import TransferCore
import TransferEventLoop

/// A hop of an exchange that goes over a connection of our own.
struct PlainHop {
    /// Until its connection is there.
    var request: PlainRequest?
    var connection: PlainConnection?
    /// Of the hop: its connection's making, where it made one.
    let start = MonotonicTime.now
    var connectTimes: (nameLookup: Double, connect: Double)?
    var firstByte: MonotonicTime?
    /// The answer is there, and nothing behind it.
    var isWhole = false
}
