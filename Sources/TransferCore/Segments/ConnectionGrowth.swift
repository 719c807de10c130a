/// The number of connections for one file; the type performs no input or output.
///
/// A number set by the user is kept. Otherwise trials find one: each raises the number, and keeps it where that made
/// the file faster.
///
/// - A rate is measured over windows of a few round trips (``Window``), without the time in which connections are
///   opened.
/// - A rate is compared only once it is steady. Neither the slow start of a connection nor a server's initial burst
///   predicts the next second.
/// - Two connections are opened early, as most links need more than one round trip to fill. More than four need
///   evidence: four brought more than two, or segments were lost without a queue.
/// - An unsuccessful trial is reverted. It is repeated after a rest that doubles each time, while the file lasts.
/// - A number that was assumed because of losses is checked against four, once the file has enough time left.
public struct ConnectionGrowth: Sendable {
    /// The requested number of connections.
    public enum Request: Sendable, Hashable {
        /// A fixed number, 1 to 32.
        case exactly(Int)
        /// A number found by trials.
        case automatic
    }

    /// The maximum number of connections for one file without a number from the user.
    public static let most = 16
    /// The maximum number without evidence that four do not fill the link.
    public static let unproven = 4
    /// The factor by which the rate must rise for a trial to succeed.
    package static let payment = 1.25
    /// The maximum share of its time for which the thread that moves the bytes may be busy. Above it, the processor is
    /// the limit.
    static let mostLoad = 0.85
    /// The seconds after a refusal in which no connection is added, where the server requests no other time.
    static let refusalRest = 10.0
    /// The seconds after a refusal in which the refused number is not reached again.
    static let refusalMemory = 60.0
    /// The seconds of the first and of the longest rest after an unsuccessful trial.
    static let rests = 1.0...64.0

    enum Window {
        static let roundTrips = 3.0
        /// The number of round trips after a change of the number that are not measured.
        static let settling = 2.0
        /// The minimum length of a window in seconds.
        static let shortest = 0.15
        /// The number of windows after which a rate always counts as steady.
        static let most = 4
        /// The range of the ratio between two successive rates in which the rate counts as steady.
        static let steady = 0.75...1.25
        /// The factor of a steady rate with which a trial succeeds before its own rate is steady.
        static let atOnce = 1.5
    }

    private enum Trial {
        /// A trial with more connections than `from`, which brought `rate`.
        case more(from: Int, rate: Double, isSure: Bool)
        /// A trial with fewer connections than `from`, which brought `rate`.
        case fewer(from: Int, rate: Double)
    }

    /// The number of connections that should be open.
    public private(set) var wanted: Int
    private let request: Request
    private var trial: Trial?
    private var rest = rests.lowerBound
    /// The time before which no trial begins.
    private var notBefore = 0.0

    /// The current window; without bytes while connections are being opened.
    private var window: (time: Double, bytes: Int64?, worked: Double)?
    /// The number of connections to which ``rates`` belong.
    private var measured = 0
    private var rates: [Double] = []
    /// The current round trip, and the rate of the fastest one.
    private var roundTrip: (time: Double, bytes: Int64)?
    private var peak = 0.0

    /// The number of segments known to have arrived out of order.
    private var disordered: Int64 = 0
    /// Whether the number was raised because of losses, which happens only once, and the time from which that is
    /// checked.
    private var assumption: (isOpen: Bool, checkedFrom: Double)?
    /// The lowest number that the server refused, and the time until which it counts.
    private var refusal: (count: Int, until: Double)?

    /// Creates the growth for a file.
    public init(_ request: Request) {
        self.request = request
        wanted = if case .exactly(let count) = request { count } else { 1 }
    }

    /// The number that trials have found; `nil` before the end of the first trial, and where the user sets a number.
    public private(set) var found: Int?

    /// The fastest rate of all connections together, over a round trip.
    public var best: Double { max(peak, rates.last ?? 0) }

    /// Starts with this number of connections where the user sets none: one for each source, or the number that an
    /// earlier file found.
    public mutating func begins(with count: Int, of most: Int = unproven) {
        guard case .automatic = request else { return }
        wanted = max(wanted, min(count, most))
        if wanted > Self.unproven { assumption = (true, 0) }
    }

    /// Takes a measurement.
    ///
    /// - Parameters:
    ///   - now: The time in seconds of any monotonic clock.
    ///   - bytes: The number of bytes received over all connections so far.
    ///   - left: The number of missing bytes.
    ///   - worked: The seconds for which the thread that moves the bytes has been busy so far.
    ///   - connections: The number of open connections.
    ///   - path: The kernel's data about the path; `nil` where it has none, which assumes a round trip of 50 ms.
    ///   - bound: The user's own limit in bytes a second. A file that approaches it gets no more connections.
    /// - Returns: The number of connections that should be open.
    public mutating func sample(
        now: Double, bytes: Int64, left: Int64, worked: Double, connections: Int, path: PathReading? = nil,
        bound: Double = .infinity
    ) -> Int {
        guard case .automatic = request else {
            if now >= notBefore, case .exactly(let count) = request { wanted = count }
            return wanted
        }
        let way = Way(path, bound)
        feel(now, bytes, way)
        let isLossy = way.isLossy && (path?.disordered ?? 0) > disordered
        disordered = max(disordered, path?.disordered ?? 0)
        if mayAdd(connections, left, best, way, now), connections >= wanted {
            if isLossy, assumption == nil, connections <= Self.unproven {
                trial = .more(from: min(limit(now), Self.unproven), rate: peak, isSure: true)
                assumption = (true, 0)
                wanted = limit(now)
                return wanted
            }
            if connections == 1, trial == nil { wanted = min(limit(now), 2) }
        }
        guard measured == connections, let window else {
            (measured, rates) = (connections, [])
            window = (now + Window.settling * way.roundTrip, nil, 0)
            return wanted
        }
        guard let start = window.bytes else {
            if now >= window.time { self.window = (now, bytes, worked) }
            return wanted
        }
        let span = now - window.time
        guard span >= max(Window.shortest, Window.roundTrips * (way.roundTrip + way.delay)) else { return wanted }
        self.window = (now, bytes, worked)
        rates.append(Double(bytes - start) / span)
        judge(now, left, load: (worked - window.worked) / span, connections, way)
        return wanted
    }

    /// Reduces the number after a refusal by the server (429, 503). Working connections are kept, at most half of all,
    /// and none is added for a while.
    ///
    /// - Parameters:
    ///   - connections: The number of open connections, including the refused one.
    ///   - working: The number of those that have received bytes.
    ///   - retryAfter: The time in seconds for which the server asks to wait.
    public mutating func refused(now: Double, connections: Int, working: Int, retryAfter: Double? = nil) {
        // Connections that were opened together are refused one after the other, which counts as a single refusal.
        let isNew = now >= notBefore
        let working = max(1, working)
        wanted = min(wanted, isNew ? min(working, (connections + 1) / 2) : working)
        let count = max(2, min(isNew ? connections : refusal?.count ?? connections, working + 1))
        refusal = (count, now + (retryAfter ?? Self.refusalRest) + Self.refusalMemory)
        notBefore = max(notBefore, now + (retryAfter ?? Self.refusalRest))
        (trial, window) = (nil, nil)
    }

    /// Reduces the number by one for a while, after the loss of a connection.
    public mutating func lost(now: Double, connections: Int) {
        wanted = max(1, min(wanted, connections))
        notBefore = max(notBefore, now + Self.refusalRest / 5)
        (trial, window) = (nil, nil)
    }

    /// Reduces the number to `count`, because other files need the connections.
    public mutating func yields(to count: Int) {
        wanted = max(1, min(wanted, count))
        (trial, window) = (nil, nil)
    }

    // MARK: Trials

    private mutating func judge(_ now: Double, _ left: Int64, load: Double, _ connections: Int, _ way: Way) {
        let rate = rates[rates.count - 1]
        guard rate > 0 else { return }
        let mayAdd = load <= Self.mostLoad && mayAdd(connections, left, rate, way, now)
        switch trial {
        case .more(let from, let base, let isSure):
            guard connections >= wanted else { return }
            let isPaid = rate >= base * (isSteady ? Self.payment : Window.atOnce)
            guard isPaid || isSteady else { return }
            trial = nil
            found = isPaid ? connections : min(wanted, from)
            if isPaid {
                rest = Self.rests.lowerBound
                if assumption?.isOpen == true { assumption?.checkedFrom = now + 60 * way.roundTrip }
                guard mayAdd else { return }
                trial = .more(from: connections, rate: rate, isSure: isSteady)
                wanted = min(limit(now), connections * 4)
            } else {
                wanted = min(wanted, from)
                assumption?.isOpen = false
                // A rate that was not steady proves nothing, and is measured again without a rest.
                if isSure { takeRest(now) }
            }
        case .fewer(let from, let base):
            guard isSteady else { return }
            trial = nil
            assumption?.isOpen = false
            if steadyRate < base / Self.payment { wanted = min(limit(now), from) }
            found = wanted
            takeRest(now)
        case nil:
            guard isSteady, now >= notBefore, connections >= wanted else { return }
            if let assumption, assumption.isOpen, connections > Self.unproven {
                guard now >= assumption.checkedFrom, Double(left) / rate > max(3, 100 * way.roundTrip) else { return }
                trial = .fewer(from: connections, rate: steadyRate)
                wanted = Self.unproven
            } else if mayAdd {
                trial = .more(from: connections, rate: steadyRate, isSure: true)
                wanted = min(limit(now), max(Self.unproven, connections * 2))
            }
        }
    }

    private mutating func takeRest(_ now: Double) {
        notBefore = max(notBefore, now + rest)
        rest = min(rest * 2, Self.rests.upperBound)
    }

    /// Returns whether the file has enough time left for another connection to help.
    private func mayAdd(_ connections: Int, _ left: Int64, _ rate: Double, _ way: Way, _ now: Double) -> Bool {
        rate > 0 && rate < way.bound * 0.7 && connections < limit(now) && now >= notBefore
            && Double(left) / rate >= max(0.5, 8 * way.roundTrip)
    }

    private func limit(_ now: Double) -> Int {
        guard let refusal, now < refusal.until else { return Self.most }
        return max(1, min(Self.most, refusal.count - 1))
    }

    // MARK: Measurement

    /// The properties of the path to the server that the decisions need.
    private struct Way {
        let roundTrip: Double
        let delay: Double
        /// Whether a loss would have occurred without a queue.
        let isLossy: Bool
        let bound: Double

        init(_ path: PathReading?, _ bound: Double) {
            self.bound = bound
            roundTrip = min(2, max(0.001, path?.roundTrip ?? 0.05))
            delay = min(2, path?.delay ?? 0)
            isLossy = path != nil && delay < max(0.002, roundTrip * 0.05)
        }
    }

    private mutating func feel(_ now: Double, _ bytes: Int64, _ way: Way) {
        guard let start = roundTrip else {
            roundTrip = (now, bytes)
            return
        }
        let span = now - start.time
        guard span >= max(0.05, way.roundTrip) else { return }
        peak = max(peak, Double(bytes - start.bytes) / span)
        roundTrip = (now, bytes)
    }

    private var isSteady: Bool {
        guard rates.count >= 2 else { return false }
        let (last, before) = (rates[rates.count - 1], rates[rates.count - 2])
        return rates.count >= Window.most || Window.steady.contains(last / max(1, before))
    }

    /// The better of the last two windows, which a trial must exceed.
    private var steadyRate: Double { max(rates[rates.count - 1], rates[rates.count - 2]) }
}
