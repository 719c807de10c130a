import TransferEventLoop

/// A purpose of a pool's timer.
enum PoolTimer: Int, CaseIterable {
    /// The time at which libcurl wants to be called.
    case libcurl
    /// The end of the first pause for a rate.
    case rate
    /// The end of the longest permitted look-up.
    case address
    /// The next check for silent connections.
    case silence
    /// The next check of the bytes that peers have acknowledged.
    case acknowledgement
    /// The end of the time in which a certificate may be judged.
    case trust
    /// The next check of sockets whose congestion control or pace follows their measurements.
    case steering
    /// The next offer of unread replies.
    case reply
    /// The next check of the paths of connections.
    case path
}

/// The timers of a pool; each is made when it is first needed.
struct PoolTimers {
    private var made: [LoopTimer?] = Array(repeating: nil, count: PoolTimer.allCases.count)

    subscript(_ which: PoolTimer) -> LoopTimer? {
        get { made[which.rawValue] }
        set { made[which.rawValue] = newValue }
    }

    /// Removes all timers from the loop.
    mutating func removeAll(from loop: EventLoop) {
        for timer in made { if let timer { loop.remove(timer) } }
        self = PoolTimers()
    }
}
