/// What goes wrong with one request. Faults combine: `.ignoreRange.and(.cut(after: 1000))`.
public struct Fault: Sendable {
    enum Step: Sendable {
        case request(RequestStep)
        case resource(ResourceStep)
        case answer(Response)
        case rangeNotSatisfiable
        case response(ResponseStep)
        case upload(UploadStep)
    }

    /// What the server pretends to have been asked.
    enum RequestStep: Sendable {
        case ignoreRange
        case serveRange(Range<Int64>)
    }

    /// Changes of the file; all but `gzip` stay.
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

    /// The request is answered as it should be.
    public static let none = Fault(steps: [])

    public func and(_ other: Fault) -> Fault { Fault(steps: steps + other.steps) }
}

/// A fault for each request of a path (or of a kind), in the order in which their heads arrive.
struct FaultScript: Sendable {
    struct Entry: Sendable {
        let method: String?
        let fault: Fault
    }

    /// Whose requests it's for, where that is more than a path.
    var isFor: (@Sendable (RequestHead) -> Bool)?

    var entries: [Entry] = []
    /// For requests after the last entry.
    var afterwards = Fault.none

    mutating func next(for method: String) -> Fault {
        guard let index = entries.firstIndex(where: { $0.method == nil || $0.method == method }) else {
            return afterwards
        }
        return entries.remove(at: index).fault
    }
}
