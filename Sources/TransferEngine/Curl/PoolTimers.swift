import TransferEventLoop

/// What a pool waits for by the clock; each timer is made when it's first needed.
struct PoolTimers {
    /// What libcurl wants to be called at.
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
