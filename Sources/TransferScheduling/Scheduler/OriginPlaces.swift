package import TransferCore
package import TransferJobs

/// The number of concurrent transfers of each origin. It is configured or found (``ConcurrencyProbe``), and lower if a
/// server accepts no more (``OriginRoom``). If processes share the places, it is the number that their store gave this
/// one (``SharedPermits``).
package struct OriginPlaces: Sendable {
    private var perHost: PerHost
    private var bounds: OriginBounds
    /// The origins that accept fewer jobs at a time than they would get.
    private var rooms: [String: OriginRoom] = [:]
    /// The levels of origins whose places were all taken once, or that refused some transfers.
    private var levels: [String: ConcurrencyProbe] = [:]
    /// The shared places; `nil` if this process has all places alone.
    private var shared: SharedPermits?

    /// The share of places that is kept for jobs whose files are not known to be large: one in this number.
    private static let keptShare = 4
    /// The number of levels beyond which those without findings are forgotten.
    private static let mostLevels = 256

    package init(_ perHost: PerHost, _ bounds: OriginBounds, isShared: Bool) {
        self.perHost = perHost
        self.bounds = bounds
        shared = isShared ? SharedPermits() : nil
    }

    /// Sets other configured numbers; findings about servers are kept.
    package mutating func set(_ perHost: PerHost, _ bounds: OriginBounds) {
        self.perHost = perHost
        self.bounds = bounds
        let automatic = levels.keys.filter { isAutomatic($0) }
        levels = levels.filter { automatic.contains($0.key) }
    }

    /// Returns the number of jobs that may be under way.
    package mutating func count(at origin: String) -> Int {
        let count = level(at: origin)
        return rooms.isEmpty ? count : min(count, rooms[origin]?.places ?? .max)
    }

    /// Returns the maximum numbers of jobs and connections. A number from the user bounds both; a level bounds the jobs
    /// only.
    package mutating func bounds(at origin: String) -> OriginLoad.Bounds {
        let count = count(at: origin)
        guard shared == nil, case .automatic = reported(at: origin) else {
            return OriginLoad.Bounds(jobs: count, connections: count)
        }
        let connections = min(levels[origin]?.connections ?? ConcurrencyProbe.most, rooms[origin]?.places ?? .max)
        return OriginLoad.Bounds(jobs: count, connections: connections, kept: max(1, count / Self.keptShare))
    }

    /// Notes that an origin could use further connections.
    package mutating func wantMore(at origin: String) { shared?.wantMore(origin) }

    private mutating func reported(at origin: String) -> PerHost { bounds.places(at: origin) ?? perHost }

    private mutating func isAutomatic(_ origin: String) -> Bool { reported(at: origin) == .automatic }

    private mutating func level(at origin: String) -> Int {
        if let shared { return shared.count(at: origin) }
        return switch reported(at: origin) {
        // A batch would never end without any place.
        case .exactly(let count): max(1, count)
        case .automatic: levels[origin]?.places ?? ConcurrencyProbe.first(at: origin)
        }
    }

    // MARK: Levels

    /// Notes that a job waits because all places are taken.
    package mutating func filled(_ origin: String) {
        shared?.want(origin)
        guard levels[origin] == nil, shared == nil, isAutomatic(origin) else { return }
        if levels.count >= Self.mostLevels { levels = levels.filter { !$0.value.isNew } }
        levels[origin] = ConcurrencyProbe(first: ConcurrencyProbe.first(at: origin))
    }

    package mutating func moved(_ bytes: Int64, at origin: String) {
        shared?.moved(bytes, at: origin)
        if !levels.isEmpty { levels[origin]?.moved(bytes) }
    }

    /// Notes that a transfer got its answer.
    ///
    /// - Parameters:
    ///   - isFull: Whether all places were taken and other jobs waited for one.
    ///   - isPrompt: Whether the answer came within about one round trip, from a distant server.
    /// - Returns: Whether the number of places has changed.
    package mutating func answered(_ origin: String, isFull: Bool, isPrompt: Bool, now: MonotonicTime) -> Bool {
        shared?.answered(origin)
        guard !levels.isEmpty, let before = levels[origin]?.places else { return false }
        levels[origin]?.answered(isFull: isFull, isPrompt: isPrompt, now: now)
        return levels[origin]?.places != before
    }

    /// Reviews the levels as time has passed.
    ///
    /// - Parameter isFull: A function that returns whether all places of an origin are taken and other jobs wait.
    /// - Returns: The origins whose number of places has changed.
    package mutating func look(now: MonotonicTime, isFull: (String) -> Bool) -> [String] {
        var changed: [String] = []
        for (origin, level) in levels {
            levels[origin]?.look(isFull: isFull(origin), now: now)
            if levels[origin]?.places != level.places { changed.append(origin) }
        }
        return changed
    }

    /// Returns whether places may be added while no transfer ends, so that ``look(now:isFull:)`` must be called a few
    /// times a second.
    package func isGrowing(isFull: (String) -> Bool) -> Bool {
        shared?.isTelling ?? levels.contains { $0.value.isGrowing(isFull: isFull($0.key)) }
    }

    /// Notes that an origin refused a transfer.
    ///
    /// - Parameters:
    ///   - inUse: The number of open connections, including the refused one.
    ///   - since: The time when its transfer began.
    package mutating func refused(
        _ origin: String, _ refusal: ConcurrencyBackoff.Refusal, inUse: Int, since: MonotonicTime, now: MonotonicTime
    ) {
        if isAutomatic(origin) { shared?.refused(origin, OriginObservations.Refusal(refusal, since: since), now: now) }
        guard shared == nil, isAutomatic(origin) else { return }
        levels[origin, default: ConcurrencyProbe(first: ConcurrencyProbe.first(at: origin))].refused(
            refusal, inUse: inUse, since: since, now: now)
    }

    // MARK: Places that several processes have together

    /// Returns whether jobs here are useless until the store has given places, which it is then asked for.
    package mutating func awaitsPlaces(at origin: String) -> Bool {
        guard let shared, shared.count(at: origin) == 0 else { return false }
        self.shared?.want(origin)
        return true
    }

    /// Returns the requests for the store, as ``SharedPermits/asks(now:most:reported:use:)``.
    package mutating func asks(
        now: MonotonicTime, most: Int, use: (String) -> SharedPermits.Use
    ) -> (asks: [SharedPermits.Ask], next: MonotonicTime?) {
        guard shared != nil else { return ([], nil) }
        var (bounds, perHost) = (bounds, perHost)
        return shared?.asks(now: now, most: most, reported: { bounds.places(at: $0) ?? perHost }, use: use) ?? ([], nil)
    }

    package mutating func given(_ given: SharedPermits.Given) { shared?.given(given) }

    // MARK: Rooms

    /// Notes that the origin accepts no more jobs at a time. If processes find the number together, this is a refusal
    /// like a status that says so.
    ///
    /// - Parameters:
    ///   - others: The number of jobs there, without the refused one.
    ///   - since: The time when the refused job began.
    package mutating func crowded(_ origin: String, others: Int, since: MonotonicTime, now: MonotonicTime) {
        guard shared == nil || !isAutomatic(origin) else {
            shared?.refused(origin, OriginObservations.Refusal(.answer, since: since), now: now)
            return
        }
        rooms[origin, default: OriginRoom(others: others, now: now)].refused(others: others, now: now)
    }

    /// Adds places as time has passed.
    ///
    /// - Returns: The origins that have more places now.
    package mutating func grow(now: MonotonicTime) -> [String] {
        guard !rooms.isEmpty else { return [] }
        let before = rooms
        var limits: [String: Int] = [:]
        // A level that is still low may grow to a number that the server does not accept.
        for origin in rooms.keys { limits[origin] = isAutomatic(origin) ? ConcurrencyProbe.most : level(at: origin) }
        rooms = OriginRoom.grown(rooms, now: now) { limits[$0] ?? .max }
        return before.filter { rooms[$0.key]?.places != $0.value.places }.map(\.key)
    }
}
