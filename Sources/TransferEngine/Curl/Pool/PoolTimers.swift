import TransferEventLoop

/// A purpose of a pool's timer.
enum PoolTimer: Int, CaseIterable {
    /// The time at which libcurl wants to be called.
    case libcurl
    /// The end of the first pause for a rate.
    case rate
    /// The end of the longest that a look-up may take.
    case address
    /// The next look for silent connections.
    case silence
    /// The next look at what peers have acknowledged.
    case acknowledgement
    /// The end of the longest that a certificate may be judged for.
    case trust
    /// The next look at sockets whose congestion control or pace follows what they show.
    case steering
    /// The next offer of replies that nobody has read.
    case reply
    /// The next look at the paths of connections.
    case path
}

/// The timers of a pool; each is made when it's first needed.
struct PoolTimers {
    private var made: [LoopTimer?] = Array(repeating: nil, count: PoolTimer.allCases.count)

    subscript(_ which: PoolTimer) -> LoopTimer? {
        get { made[which.rawValue] }
        set { made[which.rawValue] = newValue }
    }

    /// Takes all of them off the loop.
    mutating func removeAll(from loop: EventLoop) {
        for timer in made { if let timer { loop.remove(timer) } }
        self = PoolTimers()
    }
}
