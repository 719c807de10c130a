import TransferEventLoop

/// The timers of a pool; each is made when it's first needed.
struct PoolTimers {
    /// The time at which libcurl wants to be called.
    var curl: LoopTimer?
    /// The end of the first pause for a rate.
    var pause: LoopTimer?
    /// The end of the longest that a look-up may take.
    var lookUp: LoopTimer?
    /// The next look for silent connections.
    var idle: LoopTimer?
    /// The end of the longest that a certificate may be judged for.
    var verdict: LoopTimer?
    /// The next look for replies that nobody has read.
    var reply: LoopTimer?

    var all: [LoopTimer] { [curl, pause, lookUp, idle, verdict, reply].compactMap(\.self) }
}
