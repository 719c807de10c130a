import TransferCore
package import TransferJobs

/// The lanes that have jobs, and their origins: each is found by its name once a page of jobs, and by its place at each
/// start.
///
/// The table notes which lanes changed, so that a decision costs what changed and not what there is.
package struct LaneTable: Sendable {
    /// An origin that jobs speak to; its place is another one's when nobody does any more.
    package struct OriginState: Sendable {
        package fileprivate(set) var name: String
        package fileprivate(set) var active = 0
        /// Places of the lanes that go there.
        package fileprivate(set) var lanes: [Int] = []
        /// A lane was left out of the order because no place was free here.
        package var holdsLanes = false
        /// The same when it was last decided, where something has changed since.
        fileprivate var heldLanes = false
    }

    package private(set) var lanes: [LaneState] = []
    package private(set) var origins: [OriginState] = []
    private var lanePlaces: [Lane: Int] = [:]
    private var originPlaces: [String: Int] = [:]
    private var freeOrigins: [Int] = []
    /// Places of lanes that changed since they were last looked at; some may be named twice or be gone.
    private var changed: [Int] = []
    /// Jobs that have started so far.
    private var served = 0

    package var isEmpty: Bool { lanes.isEmpty }

    /// A lane that is altered this way counts as changed.
    package subscript(place: Int) -> LaneState {
        get { lanes[place] }
        _modify {
            touch(place)
            yield &lanes[place]
        }
    }

    /// Jobs of the lane are asked for; that starts none.
    package mutating func claims(_ place: Int) {
        lanes[place].isClaiming = true
        lanes[place].grewSinceClaim = 0
        lanes[place].isOvertaken = false
    }

    // MARK: Places

    /// The place of the lane's state, which is made where there is none.
    package mutating func place(of lane: Lane) -> Int {
        if let place = lanePlaces[lane] { return place }
        let origin = place(ofOrigin: lane.origin)
        lanes.append(LaneState(lane, origin: origin))
        let place = lanes.count - 1
        origins[origin].lanes.append(place)
        lanePlaces[lane] = place
        return place
    }

    /// - Returns: Whether the lane was without jobs, and is gone; the last one has its place then.
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

    /// Jobs under way to the origin.
    package func active(at origin: String) -> Int { originPlaces[origin].map { origins[$0].active } ?? 0 }

    /// A job of the lane starts; the others of its priority come before its next one.
    package mutating func started(_ place: Int) {
        served += 1
        lanes[place].lastServed = served
        origins[lanes[place].origin].active += 1
    }

    /// A job to the origin has ended.
    package mutating func ended(at origin: Int) {
        origins[origin].active -= 1
        if origins[origin].holdsLanes { touch(at: origin) }
        freeIfUnused(origin)
    }

    package mutating func holdLanes(at origin: Int) { origins[origin].holdsLanes = true }

    /// Whether jobs waited for a place here when it was last decided what starts.
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

    // MARK: What changed

    /// Something changed that decides whether the lane's jobs start.
    package mutating func touch(_ place: Int) { if changed.last != place { changed.append(place) } }

    /// The same of every lane to this origin.
    package mutating func touch(to origin: String) { originPlaces[origin].map { touch(at: $0) } }

    package mutating func touchAll() { changed = Array(lanes.indices) }

    private mutating func touch(at origin: Int) {
        if origins[origin].holdsLanes { origins[origin].heldLanes = true }
        origins[origin].holdsLanes = false
        changed += origins[origin].lanes
    }

    /// A lane to look at, each of those that changed once at least.
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
    /// Takes the number out where it comes first; the order of the others may change.
    fileprivate mutating func removeFirst(_ number: Int) {
        guard let index = firstIndex(of: number) else { return }
        swapAt(index, count - 1)
        removeLast()
    }
}
