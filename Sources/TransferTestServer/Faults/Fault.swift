/// The faults of one request. They can be combined: `.ignoreRange.and(.cut(after: 1000))`.
public struct Fault: Sendable {
    enum Step: Sendable {
        case request(RequestStep)
        case resource(ResourceStep)
        case answer(Response)
        case rangeNotSatisfiable
        case response(ResponseStep)
        case upload(UploadStep)
    }

    /// A change of the request that the server pretends to have received.
    enum RequestStep: Sendable {
        case ignoreRange
        case serveRange(Range<Int64>)
    }

    /// A change of the file; all but `gzip` are permanent.
    enum ResourceStep: Sendable {
        case etag(String?)
        case lastModified(Int?)
        case replace(ServedFile)
        case remove
        case gzip
    }

    enum ResponseStep: Sendable {
        case mark(ResponsePlan.Mark, after: Int64)
        case opening(ResponsePlan.Opening)
        case pace(bytes: Int, interval: Duration)
        case framing(ResponsePlan.Framing)
        case contentRangeShift(Int64)
        case contentRangeTotal(Int64?)
        case noContentRange
        case multipart
        case header(String, String?)
        case padding(Int)
        case interim(ResponsePlan.Interim, count: Int)
        case close
    }

    enum UploadStep: Sendable {
        case cut(after: Int64)
        case stall(after: Int64)
        case pace(bytes: Int, interval: Duration)
        case answerEarly(Response)
        case answer(after: Int64, Response)
        case misreport(Response)
        case loseAnswer
        case noContinue
    }

    var steps: [Step]

    /// No fault: the request is answered correctly.
    public static let none = Fault(steps: [])

    /// Returns the combination of both faults.
    public func and(_ other: Fault) -> Fault { Fault(steps: steps + other.steps) }
}

/// The faults for the requests of a path (or of a kind), in the order in which their heads arrive.
struct FaultScript: Sendable {
    struct Entry: Sendable {
        let method: String?
        let fault: Fault
    }

    /// The condition for requests to which the script applies; `nil` where its path decides.
    var isFor: (@Sendable (RequestHead) -> Bool)?

    var entries: [Entry] = []
    /// The fault of requests after the last entry.
    var afterwards = Fault.none

    mutating func next(for method: String) -> Fault {
        guard let index = entries.firstIndex(where: { $0.method == nil || $0.method == method }) else {
            return afterwards
        }
        return entries.remove(at: index).fault
    }
}
