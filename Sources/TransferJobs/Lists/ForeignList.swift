/// The reader of a list in the form of another tool.
package enum ForeignList: Sendable {
    case curl(CurlList)
    case csv(CSVList)

    package init(_ format: JobFileFormat?, destination: String) {
        self = format == .csv ? .csv(CSVList(destination: destination)) : .curl(CurlList(destination: destination))
    }

    package mutating func read(_ line: [UInt8], number: Int) -> [ListFinding] {
        switch self {
        case .curl(var list):
            defer { self = .curl(list) }
            return list.read(line, number: number)
        case .csv(var list):
            defer { self = .csv(list) }
            return list.read(line, number: number)
        }
    }

    package mutating func finish() -> [ListFinding] {
        switch self {
        case .curl(var list): return list.finish()
        case .csv(var list): return list.finish()
        }
    }
}
