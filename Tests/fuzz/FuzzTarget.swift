/// A function of ours that reads what others wrote, and what has to hold of whatever it's given.
///
/// libFuzzer calls them (`make fuzz`), and a test with what it found before.
enum FuzzTarget: String, CaseIterable, Sendable {
    case heads
    case contentRange = "content-range"
    case contentDisposition = "content-disposition"
    case structuredFields = "structured-fields"
    case xml
    case jobFile = "job-file"

    /// - Throws: ``FuzzFault`` where something doesn't hold. A crash says it by itself.
    func check(_ bytes: [UInt8]) throws {
        switch self {
        case .heads: try HeadCheck.check(bytes)
        case .contentRange: try ContentRangeCheck.check(bytes)
        case .contentDisposition: try FileNameCheck.check(bytes)
        case .structuredFields: try StructuredFieldCheck.check(bytes)
        case .xml: try XMLCheck.check(bytes)
        case .jobFile: try JobFileCheck.check(bytes)
        }
    }
}

struct FuzzFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func require(_ holds: Bool, _ what: @autoclosure () -> String) throws(FuzzFault) {
    if !holds { throw FuzzFault(what()) }
}
