import OpenCombine

/// The values of several publishers on their way to one subscriber, and the demands in the opposite direction. Pure.
///
/// A merge delivers each value. A combination of the latest values is delivered for each new value, once every
/// publisher has one. Without a demand only the newest combination waits.
struct JoinState<Input> {
    enum Way {
        case each
        case latest
    }

    enum Action {
        /// Delivers the value of the publisher with this index; by ``Way/latest`` together with the latest values of
        /// the others.
        case deliver(Input, from: Int)
        case ask(Int, Subscribers.Demand)
        case finish
    }

    private let way: Way
    private var demand = Subscribers.Demand.none
    /// The publishers, by index, that have passed their subscription.
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
            // Each publisher of a merge has at most one value on its way, unless the demand is unlimited.
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
                // The value yields no combination yet, so that the demand remains and another value is requested.
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

    // MARK: Actions

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

    /// Notes that the subscriber took a value, and adds its further demand.
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
