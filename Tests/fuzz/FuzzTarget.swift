/// A function of the package that parses foreign input, and the properties that hold for any input.
///
/// libFuzzer calls the targets (`make fuzz`), and a test calls them with earlier findings.
enum FuzzTarget: String, CaseIterable, Sendable {
    case heads
    case contentRange = "content-range"
    case contentDisposition = "content-disposition"
    case structuredFields = "structured-fields"
    case xml
    case jobFile = "job-file"

    /// - Throws: ``FuzzFault`` if a property does not hold. A crash is a finding without an error.
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
