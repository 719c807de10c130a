package import TransferCore
package import TransferEngine
package import TransferUpload

/// The dialogue of an upload with its server during one attempt.
package struct UploadTalk {
    /// The number that distinguishes the events of this attempt from those of an earlier one of the same job.
    package let number: Int
    package var dialogue: any UploadDialogue
    package let source: UploadBytes
    /// The active requests, by the dialogue's numbers.
    package private(set) var legs: [Int: Leg] = [:]
    /// The actions that wait until data is durable.
    package var waiting: [UploadAction] = []
    package var isSaving = false
    /// Whether the attempt fails before it needs the server or the source again. A state that is to be saved is then
    /// stored with the job's end or step.
    package var failsNext: Bool {
        for action in waiting {
            switch action {
            case .fail: return true
            case .send, .digest, .restart, .finish: return false
            case .save, .confirmed, .forget, .stop, .learned: continue
            }
        }
        return false
    }
    /// The state that the dialogue wants to save.
    package var state: UploadState?
    /// The number of bytes confirmed by the server.
    package private(set) var confirmed: Int64 = 0
    /// The head of the last response.
    package var lastHead: ResponseHead?
    /// Whether the version of the source at the start matters even where nothing can be continued.
    private let keepsVersion: Bool
    /// The largest number of bytes that the server had confirmed before this attempt.
    package let confirmedBefore: Int64
    /// The number of body bytes sent by requests that have ended.
    package private(set) var settled: Int64 = 0
    /// The number of requests with bytes of the source that suits the link, while the dialogue adapts to it.
    package var growth: ConnectionGrowth
    /// The number of requests beyond those that every such upload has, as the scheduler counts them beside the jobs.
    package var extra = 0
    /// The number of body bytes that arrived, for requests that have ended.
    private var settledArrived: Int64 = 0
    /// The number of the file's bytes that arrived with requests that have ended.
    private var base: Int64 = 0
    /// The number of body bytes for which no response arrived.
    private var unanswered: Int64 = 0
    /// The number of body bytes with a response, which the server may have stored, since the last moment without active
    /// requests.
    private var answered: Int64 = 0

    package struct Leg {
        package let handle: ExchangeHandle
        package let meter: ExchangeMeter
        /// The URL to which the request was redirected.
        package var url: String?
        /// The number of the file's bytes in the body.
        package let carries: Int64
        /// Whether the server has reported its data in an interim response; the confirmed bytes then include this
        /// request's.
        fileprivate var isReportedMeanwhile = false

        package init(handle: ExchangeHandle, meter: ExchangeMeter, carries: Int64, url: String? = nil) {
            self.handle = handle
            self.meter = meter
            self.carries = carries
            self.url = url
        }

        /// The number of the file's bytes that have arrived.
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

    /// Records that the request's responses now come from another URL.
    package mutating func moved(_ request: Int, to url: String) {
        legs[request]?.url = String(url.prefix { $0 != "#" })
    }

    /// Records an interim response to the request.
    package mutating func heard(_ request: Int) { legs[request]?.isReportedMeanwhile = true }

    /// Records the end of a request.
    ///
    /// - Parameter isAnswered: Whether the server has reported the request's result.
    /// - Returns: `nil` for a request that is no longer wanted.
    package mutating func ended(_ request: Int, isAnswered: Bool) -> Leg? {
        guard let leg = legs.removeValue(forKey: request) else { return nil }
        settled += leg.meter.sent
        settledArrived += leg.meter.acknowledged
        if isAnswered { answered += leg.meter.sent } else { unanswered += leg.meter.sent }
        // The dialogue next reports the data that the server has.
        base = isAnswered ? base + leg.arrived : confirmed
        return leg
    }

    package mutating func confirm(_ bytes: Int64) {
        confirmed = bytes
        if !legs.values.contains(where: \.isReportedMeanwhile) { base = bytes }
    }

    /// The number of body bytes sent so far.
    package var sent: Int64 { legs.values.reduce(settled) { $0 + $1.meter.sent } }

    /// The number of body bytes that have arrived so far.
    package var acknowledged: Int64 { legs.values.reduce(settledArrived) { $0 + $1.meter.acknowledged } }

    /// The number of body bytes that the server may have stored, to the extent that the dialogue knows.
    package var mayBeThere: Int64 { legs.values.reduce(unanswered + answered) { $0 + $1.meter.sent } }

    /// The position of the upload in bytes: those that the server has confirmed, and those that have arrived.
    package var position: Int64 { min(source.size, max(confirmed, legs.values.reduce(base) { $0 + $1.arrived })) }

    /// The congestion control of the sending connections, where it is not the system's default.
    package var congestion: CongestionUse? { legs.values.lazy.compactMap(\.meter.congestion).first }

    /// Whether the server can be asked for its data.
    package var knowsTheWay: Bool { state?.canAsk == true }

    /// The record for the next attempt; `nil` where there is nothing to continue.
    package var record: UploadRecord? {
        guard state != nil || keepsVersion else { return nil }
        return source.record(state: state, confirmed: state == nil ? 0 : max(confirmed, confirmedBefore))
    }
}
