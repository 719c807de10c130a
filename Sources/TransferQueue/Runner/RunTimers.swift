import TransferEventLoop

/// The run's timers: each is made when it's first asked for.
struct RunTimers {
    private var timers: [RunTimer: LoopTimer] = [:]

    /// - Parameter make: Where there is none yet.
    mutating func timer(_ which: RunTimer, or make: () -> LoopTimer) -> LoopTimer {
        if let timer = timers[which] { return timer }
        let timer = make()
        timers[which] = timer
        return timer
    }

    mutating func forget(_ which: RunTimer) { timers[which] = nil }
}
