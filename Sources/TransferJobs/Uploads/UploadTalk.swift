package import TransferCore
package import TransferEngine
package import TransferUpload

/// An upload's dialogue with its server, during one attempt.
package struct UploadTalk {
    /// Tells the events of this attempt from those of an earlier one of the same job.
    package let number: Int
    package var dialogue: any UploadDialogue
    package let source: UploadBytes
    /// The requests under way, by the dialogue's numbers.
    package private(set) var legs: [Int: Leg] = [:]
    /// Actions that wait until something is durable.
    package var waiting: [UploadAction] = []
    package var isSaving = false
    /// The state that the dialogue wants to be kept.
    package var state: UploadState?
    /// Bytes that the server holds, as far as it said.
    package private(set) var confirmed: Int64 = 0
    /// The head of the last answer.
    package var lastHead: ResponseHead?
    /// Whether the version that it began with counts, also where nothing can be continued.
    private let keepsVersion: Bool
    /// The most bytes that the server held before this attempt.
    package let confirmedBefore: Int64
    /// Bytes of bodies that left, of the requests that have ended.
    package private(set) var settled: Int64 = 0
    /// How many requests with bytes of the source the link is worth, while the dialogue follows it.
    package var growth: ConnectionGrowth
    /// Requests beyond those that every such upload has, as the scheduler counts them beside the jobs.
    package var extra = 0
    /// Bytes of bodies that arrived, of the requests that have ended.
    private var settledArrived: Int64 = 0
    /// Bytes of the file that arrived with requests that have ended.
    private var base: Int64 = 0
    /// Bytes of bodies that nobody answered for.
    private var unanswered: Int64 = 0
    /// Bytes of bodies that were answered for, and perhaps taken, since the dialogue last went on to something else.
    private var answered: Int64 = 0

    package struct Leg {
        package let handle: ExchangeHandle
        package let meter: ExchangeMeter
        /// The URL that the request has been redirected to.
        package var url: String?
        /// Bytes of the file in its body.
        package let carries: Int64
        /// Whether its server told meanwhile what it holds: then the bytes that it confirmed are this request's, too.
        fileprivate var isReportedMeanwhile = false

        package init(handle: ExchangeHandle, meter: ExchangeMeter, carries: Int64, url: String? = nil) {
            self.handle = handle
            self.meter = meter
            self.carries = carries
            self.url = url
        }

        /// Bytes of the file that have arrived.
        var arrived: Int64 { min(carries, meter.acknowledged) }
    }

    package init(
        number: Int, dialogue: any UploadDialogue, source: UploadBytes, record: UploadRecord?, keepsVersion: Bool
    ) {
        self.number = number
        self.dialogue = dialogue
        self.source = source
        self.keepsVersion = keepsVersion
        state = record?.state
        confirmedBefore = record?.confirmed ?? 0
        growth = ConnectionGrowth(.automatic)
        growth.begins(with: UploadSpread.initial)
    }

    package mutating func began(_ request: Int, _ leg: Leg) {
        if legs.isEmpty { answered = 0 }
        legs[request] = leg
    }

    /// The request's answers come from another URL now.
    package mutating func moved(_ request: Int, to url: String) {
        legs[request]?.url = String(url.prefix { $0 != "#" })
    }

    /// The request has an answer on the way to the final one.
    package mutating func heard(_ request: Int) { legs[request]?.isReportedMeanwhile = true }

    /// - Parameter isAnswered: Whether its server has said what became of it.
    /// - Returns: `nil` for a request that isn't wanted any more.
    package mutating func ended(_ request: Int, isAnswered: Bool) -> Leg? {
        guard let leg = legs.removeValue(forKey: request) else { return nil }
        settled += leg.meter.sent
        settledArrived += leg.meter.acknowledged
        if isAnswered { answered += leg.meter.sent } else { unanswered += leg.meter.sent }
        // The dialogue says next what the server holds.
        base = isAnswered ? base + leg.arrived : confirmed
        return leg
    }

    package mutating func confirm(_ bytes: Int64) {
        confirmed = bytes
        if !legs.values.contains(where: \.isReportedMeanwhile) { base = bytes }
    }

    /// Bytes of bodies that left so far.
    package var sent: Int64 { legs.values.reduce(settled) { $0 + $1.meter.sent } }

    /// Bytes of bodies that have arrived so far.
    package var acknowledged: Int64 { legs.values.reduce(settledArrived) { $0 + $1.meter.acknowledged } }

    /// Bytes of bodies that may be where they were sent to, as far as the dialogue knows.
    package var mayBeThere: Int64 { legs.values.reduce(unanswered + answered) { $0 + $1.meter.sent } }

    /// How far the upload is: the bytes that the server holds, and those that have arrived at it.
    package var position: Int64 { min(source.size, max(confirmed, legs.values.reduce(base) { $0 + $1.arrived })) }

    /// The congestion control of the connections that send, where it isn't simply the system's.
    package var congestion: CongestionUse? { legs.values.lazy.compactMap(\.meter.congestion).first }

    /// Whether the server can be asked what it has.
    package var knowsTheWay: Bool { state?.canAsk == true }

    /// The record for the next attempt; `nil` when there is nothing to go on from.
    package var record: UploadRecord? {
        guard state != nil || keepsVersion else { return nil }
        return source.record(state: state, confirmed: state == nil ? 0 : max(confirmed, confirmedBefore))
    }
}
