import TransferCore
import TransferEventLoop

/// A hop of an exchange that goes over a connection of our own.
struct PlainHop {
    /// A kept connection was found closed: the next one is made anew.
    var wantsNew = false
    /// Until its connection is there.
    var request: PlainRequest?
    var connection: PlainConnection?
    /// When the hop began: with the making of its connection, where it makes one.
    let start = MonotonicTime.now
    /// Seconds, as libcurl measured them; `nil` where the connection was there already.
    var connectTimes: (nameLookup: Double, connect: Double)?
    var firstByte: MonotonicTime?
    /// The answer is whole, and nothing came behind it.
    var isAlone = false
}
