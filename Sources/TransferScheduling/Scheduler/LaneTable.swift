import TransferCore
package import TransferJobs

/// The lanes that have jobs, and their origins. Each is found by its name once per page of jobs, and by its place at
/// each start.
///
/// The table records which lanes changed, so that the cost of a decision depends on the changes and not on the size.
package struct LaneTable: Sendable {
    /// An origin of jobs. Its place is reused when no job contacts it any longer.
    package struct OriginState: Sendable {
        package fileprivate(set) var name: String
        package fileprivate(set) var active = 0
        /// The places of the lanes to this origin.
        package fileprivate(set) var lanes: [Int] = []
        /// Whether a lane was left out of the order because no place was free here.
        package var holdsLanes = false
        /// The value of ``holdsLanes`` at the last decision, if lanes have changed since.
        fileprivate var heldLanes = false
    }

    package private(set) var lanes: [LaneState] = []
    package private(set) var origins: [OriginState] = []
    private var lanePlaces: [Lane: Int] = [:]
    private var originPlaces: [String: Int] = [:]
    private var freeOrigins: [Int] = []
    /// The places of lanes that changed since they were last considered; some may be repeated or gone.
    private var changed: [Int] = []
    /// The number of jobs that have started so far.
    private var served = 0

    package var isEmpty: Bool { lanes.isEmpty }

    /// The lane at a place. A lane that is modified through this subscript counts as changed.
    package subscript(place: Int) -> LaneState {
        get { lanes[place] }
        _modify {
            touch(place)
            yield &lanes[place]
        }
    }

    /// Notes that jobs of the lane are being claimed, which starts none.
    package mutating func claims(_ place: Int) {
        lanes[place].isClaiming = true
        lanes[place].grewSinceClaim = 0
        lanes[place].isOvertaken = false
    }

    // MARK: Places

    /// Returns the place of the lane's state, which is made if it does not exist.
    package mutating func place(of lane: Lane) -> Int {
        if let place = lanePlaces[lane] { return place }
        let origin = place(ofOrigin: lane.origin)
        lanes.append(LaneState(lane, origin: origin))
        let place = lanes.count - 1
        origins[origin].lanes.append(place)
        lanePlaces[lane] = place
        return place
    }

    /// Drops a lane without jobs.
    ///
    /// - Returns: Whether the lane was dropped; the last lane has its place then.
    @discardableResult package mutating func dropIfEmpty(_ place: Int) -> Bool {
        guard lanes[place].isEmpty else { return false }
        let gone = lanes[place]
        lanePlaces[gone.lane] = nil
        origins[gone.origin].lanes.removeFirst(place)
        let last = lanes.removeLast()
        if place < lanes.count {
            lanes[place] = last
            lanePlaces[last.lane] = place
            origins[last.origin].lanes.removeFirst(lanes.count)
            origins[last.origin].lanes.append(place)
            changed.append(place)
        }
        freeIfUnused(gone.origin)
        return true
    }

    // MARK: Origins

    package func lanes(to origin: String) -> some Sequence<LaneState> {
        (originPlaces[origin].map { origins[$0].lanes } ?? []).lazy.map { lanes[$0] }
    }

    /// Returns the number of jobs under way to the origin.
    package func active(at origin: String) -> Int { originPlaces[origin].map { origins[$0].active } ?? 0 }

    /// Notes that a job of the lane starts, so that other lanes of its priority precede its next job.
    package mutating func started(_ place: Int) {
        served += 1
        lanes[place].lastServed = served
        origins[lanes[place].origin].active += 1
    }

    /// Notes that a job to the origin has ended.
    package mutating func ended(at origin: Int) {
        origins[origin].active -= 1
        if origins[origin].holdsLanes { touch(at: origin) }
        freeIfUnused(origin)
    }

    package mutating func holdLanes(at origin: Int) { origins[origin].holdsLanes = true }

    /// Returns whether jobs waited for a place here at the last decision.
    package func isFull(_ origin: String) -> Bool {
        originPlaces[origin].map { origins[$0].holdsLanes || origins[$0].heldLanes } ?? false
    }

    private mutating func place(ofOrigin name: String) -> Int {
        if let place = originPlaces[name] { return place }
        let place = freeOrigins.popLast() ?? origins.count
        if place == origins.count { origins.append(OriginState(name: name)) }
        origins[place].name = name
        originPlaces[name] = place
        return place
    }

    private mutating func freeIfUnused(_ origin: Int) {
        guard origins[origin].active == 0, origins[origin].lanes.isEmpty else { return }
        originPlaces[origins[origin].name] = nil
        (origins[origin].holdsLanes, origins[origin].heldLanes) = (false, false)
        freeOrigins.append(origin)
    }

    // MARK: Changes

    /// Notes a change that affects whether the lane's jobs start.
    package mutating func touch(_ place: Int) { if changed.last != place { changed.append(place) } }

    /// Notes such a change for every lane to this origin.
    package mutating func touch(to origin: String) { originPlaces[origin].map { touch(at: $0) } }

    package mutating func touchAll() { changed = Array(lanes.indices) }

    private mutating func touch(at origin: Int) {
        if origins[origin].holdsLanes { origins[origin].heldLanes = true }
        origins[origin].holdsLanes = false
        changed += origins[origin].lanes
    }

    /// Returns a changed lane, each at least once.
    package mutating func nextChanged() -> Int? {
        while let place = changed.popLast() {
            guard place < lanes.count else { continue }
            origins[lanes[place].origin].heldLanes = false
            return place
        }
        return nil
    }
}

extension [Int] {
    /// Removes the first occurrence of the number; the order of the rest may change.
    fileprivate mutating func removeFirst(_ number: Int) {
        guard let index = firstIndex(of: number) else { return }
        swapAt(index, count - 1)
        removeLast()
    }
}
