package import TransferCore
import TransferJobs

// The limits that are found while jobs run: the origins' levels, and this machine's lack of descriptors.
extension Scheduler {
    // MARK: Levels of origins

    /// Notes that the origin refused a transfer, or that its connection was lost. This is called before the end of the
    /// transfer.
    ///
    /// - Parameter since: The time when the transfer began.
    package mutating func originRefused(
        _ origin: String, _ refusal: ConcurrencyBackoff.Refusal, since: MonotonicTime, now: MonotonicTime
    ) {
        let inUse = table.active(at: origin) + loads.beside(at: origin)
        places.refused(origin, refusal, inUse: inUse, since: since, now: now)
    }

    /// Notes that the origin accepts no more jobs at a time.
    ///
    /// - Parameter since: The time when the refused job began.
    /// - Returns: Whether other jobs of this process are there; then it needs no pause, only fewer jobs.
    package mutating func originCrowded(_ origin: String, since: MonotonicTime, now: MonotonicTime) -> Bool {
        let others = table.active(at: origin) - 1
        places.crowded(origin, others: others, since: since, now: now)
        return others > 0
    }

    /// Notes that a job has finished at the origin, even if its file was there before. This is called before its place
    /// is free.
    ///
    /// - Parameter isPrompt: Whether its answer came within about one round trip, from a distant server.
    package mutating func transferEnded(at origin: String, isPrompt: Bool = false, now: MonotonicTime) {
        if places.answered(origin, isFull: table.isFull(origin), isPrompt: isPrompt, now: now) {
            table.touch(to: origin)
        }
    }

    /// Notes moved bytes of transfers that continue or are about to end.
    package mutating func moved(_ bytes: Int64, at origin: String) { places.moved(bytes, at: origin) }

    /// Reviews the levels as time has passed, after the moved bytes were reported. More or fewer transfers may run at
    /// once then.
    package mutating func lookAtLevels(now: MonotonicTime) {
        let table = table
        for origin in places.look(now: now, isFull: table.isFull) { self.table.touch(to: origin) }
    }

    /// Whether ``lookAtLevels(now:)`` must be called a few times a second.
    package var hasLevelsToLookAt: Bool { places.isGrowing(isFull: table.isFull) }

    // MARK: Places of a shared queue

    /// Returns the requests to the store for places at origins.
    mutating func placesToShare(_ now: MonotonicTime) -> [SharedPermits.Ask] {
        let (table, loads, network, concurrency) = (table, loads, network, limits.concurrency)
        let (asks, next) = places.asks(now: now, most: concurrency) { origin in
            let used = table.active(at: origin) + loads.beside(at: origin)
            let waiting = table.lanes(to: origin).reduce(0) { $0 + ($1.mayStart(network) ? $1.jobs : 0) }
            return SharedPermits.Use(held: used, wanted: min(used + waiting, max(used, concurrency)))
        }
        if let next { wake(at: next) }
        return asks
    }

    /// Notes that the store gave places, or took some back.
    package mutating func placesAreGiven(_ given: SharedPermits.Given) {
        places.given(given)
        table.touch(to: given.ask.origin)
    }

    // MARK: Rates of a shared queue

    /// Returns the requests to the store for times of starts.
    mutating func startsToReserve() -> [SharedRateTokens.Ask] {
        rates.asks { origin in
            if origin == StartRates.everywhere { return table.lanes.reduce(0) { $0 + $1.window.count } }
            return table.lanes(to: origin).reduce(0) { $0 + $1.window.count }
        }
    }

    /// Notes that the store gave times for starts.
    package mutating func startsAreGiven(_ given: SharedRateTokens.Given) {
        rates.given(given)
        if given.ask.origin == StartRates.everywhere { table.touchAll() } else { table.touch(to: given.ask.origin) }
    }

    // MARK: Further connections of jobs

    /// Notes that a job under way got a further connection.
    package mutating func connectionOpened(to origin: String) { loads.opened(to: origin) }

    package mutating func connectionClosed(to origin: String) {
        loads.closed(to: origin)
        table.touch(to: origin)
    }

    /// Returns how many more connections the origin may have besides those of its jobs. The number is negative if jobs
    /// wait for places that such connections occupy.
    package mutating func spareConnections(to origin: String) -> Int {
        places.wantMore(at: origin)
        let load = load(of: origin)
        let spare = load.spare(in: places.bounds(at: origin), waiting: waitingForPlaces(at: origin))
        return min(spare, max(-load.beside, limits.concurrency - active.count - loads.total))
    }

    /// Returns the use of the origin's places.
    func load(of origin: String) -> OriginLoad {
        OriginLoad(jobs: table.active(at: origin), large: loads.large(at: origin), beside: loads.beside(at: origin))
    }

    /// Returns the number of jobs that only wait for a place: the network, the origin and the bound of concurrent jobs
    /// let them start.
    private func waitingForPlaces(at origin: String) -> Int {
        guard active.count < limits.concurrency else { return 0 }
        switch breakers[origin]?.state {
        case .open, .halfOpen: return 0
        case .closed, .exhausted, nil: break
        }
        return table.lanes(to: origin).reduce(0) { $0 + ($1.mayStart(network) ? $1.jobs : 0) }
    }

    /// Notes the number of missing bytes of a file under way; `nil` while it is unknown.
    package mutating func left(_ bytes: Int64?, of job: Candidate) {
        if loads.has(bytes, job: job.id, to: job.lane.origin) { table.touch(to: job.lane.origin) }
    }

    // MARK: Descriptors

    /// Notes that a job found no descriptor for its file or connection. Fewer jobs are started, and no attempt is
    /// spent.
    ///
    /// - Parameter others: The number of jobs that hold descriptors: those under way and those being saved.
    package mutating func descriptorsLacked(others: Int, now: MonotonicTime) {
        if openFiles == nil { openFiles = OriginRoom(others: others, now: now) }
        openFiles?.refused(others: others, now: now)
    }

    /// Returns how many jobs may be under way.
    package mutating func concurrency(_ now: MonotonicTime) -> Int {
        guard let room = openFiles else { return limits.concurrency }
        openFiles = OriginRoom.grown(["": room], now: now) { _ in limits.concurrency }[""]
        return min(limits.concurrency, openFiles?.places ?? .max)
    }
}
