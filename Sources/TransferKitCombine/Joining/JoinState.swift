import OpenCombine

/// The values of several publishers on their way to one subscriber: which are handed on, and which are asked for. Pure.
///
/// A merge hands on each value. The latest of all is made anew for each value, once every publisher has one; where the
/// subscriber has asked for no more, only the newest waits.
struct JoinState<Input> {
    enum Way {
        case each
        case latest
    }

    enum Action {
        /// The value that the publisher of this index gave is handed on, with the latest of all others by ``Way/latest``.
        case deliver(Input, from: Int)
        case ask(Int, Subscribers.Demand)
        case finish
    }

    private let way: Way
    private var demand = Subscribers.Demand.none
    /// Whether the publisher of an index has given its subscription.
    private var isSubscribed: [Bool]
    private var hasValue: [Bool]
    private var isFinished: [Bool]
    private var waiting: [(input: Input, index: Int)] = []
    private var asks: [(index: Int, demand: Subscribers.Demand)] = []
    private(set) var isOver = false

    init(_ way: Way, count: Int) {
        self.way = way
        isSubscribed = Array(repeating: false, count: count)
        hasValue = isSubscribed
        isFinished = isSubscribed
    }

    // MARK: Events

    mutating func subscribed(_ index: Int) {
        isSubscribed[index] = true
        ask(index, demand)
    }

    mutating func request(_ more: Subscribers.Demand) {
        guard more > 0 else { return }
        let wasAsked = demand > 0
        demand += more
        for index in isSubscribed.indices where isSubscribed[index] {
            // Of a merge each publisher has one value on its way at most, unless everything is wanted.
            if way == .latest || demand == .unlimited || !wasAsked { ask(index, more) }
        }
    }

    mutating func receive(_ input: Input, from index: Int) {
        guard !isOver else { return }
        hasValue[index] = true
        switch way {
        case .each: waiting.append((input, index))
        case .latest:
            if hasValue.allSatisfy(\.self) {
                waiting = [(input, index)]
            } else {
                // It brings nothing by itself: what was asked for is still to come.
                ask(index, .max(1))
            }
        }
    }

    mutating func finished(_ index: Int) { isFinished[index] = true }

    mutating func end() {
        isOver = true
        waiting = []
        asks = []
    }

    // MARK: What follows

    mutating func next() -> Action? {
        guard !isOver else { return nil }
        if let ask = asks.first {
            asks.removeFirst()
            return .ask(ask.index, ask.demand)
        }
        if demand > 0, let (input, index) = waiting.first {
            waiting.removeFirst()
            demand -= 1
            return .deliver(input, from: index)
        }
        guard waiting.isEmpty, isFinished.allSatisfy(\.self) else { return nil }
        end()
        return .finish
    }

    /// The subscriber took a value, and asks for this much more.
    mutating func delivered(from index: Int, _ more: Subscribers.Demand) {
        guard !isOver else { return }
        switch way {
        case .each:
            demand += more
            if demand > 0, demand != .unlimited { ask(index, .max(1)) }
        case .latest: request(more)
        }
    }

    private mutating func ask(_ index: Int, _ demand: Subscribers.Demand) {
        guard demand > 0, !isFinished[index] else { return }
        let isLimited = way == .each && demand != .unlimited
        asks.append((index, isLimited ? .max(1) : demand))
    }
}
