import TransferQueue

/// The jobs that a client sent, alone or in an array, completed to a job file.
struct JobFrame {
    let file: [UInt8]
    private let steps: Int
    private let shift: Int

    /// Creates the job file.
    ///
    /// - Parameter isJobs: Whether the bytes are jobs that need to be completed.
    init(_ bytes: [UInt8], isJobs: Bool) {
        guard isJobs else {
            (file, steps, shift) = (bytes, 0, 0)
            return
        }
        let isSingle = Self.isSingle(bytes, .json)
        let (before, after) = isSingle ? ("{\"version\":1,\"jobs\":[", "]}") : ("{\"version\":1,\"jobs\":", "}")
        file = Array(before.utf8) + bytes + Array(after.utf8)
        steps = isSingle ? 2 : 1
        shift = before.utf8.count
    }

    /// Returns whether the bytes are a single object.
    static func isSingle(_ bytes: [UInt8], _ format: JobFileFormat?) -> Bool {
        format == .json && bytes.first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    /// Returns the place as a pointer into the bytes that the client sent.
    func pointer(ofPath path: String) -> String { JSONPointer.text(ofPath: path, dropping: steps) }

    func column(of span: SourceSpan) -> Int { max(1, span.column - (span.line == 1 ? shift : 0)) }
}

/// The conversion of places in JSON to pointers (RFC 6901).
enum JSONPointer {
    /// Returns the pointer for a JSON path.
    ///
    /// - Parameters:
    ///   - path: A path such as `$.jobs[0].to`.
    ///   - count: The number of leading steps to leave out.
    static func text(ofPath path: String, dropping count: Int) -> String {
        var steps: [String] = []
        var step = ""
        func end(_ steps: inout [String], _ step: inout String) {
            if !step.isEmpty { steps.append(step) }
            step = ""
        }
        for character in path.dropFirst(path.hasPrefix("$") ? 1 : 0) {
            switch character {
            case ".", "[": end(&steps, &step)
            case "]", "\"": end(&steps, &step)
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.append(character)
            }
        }
        end(&steps, &step)
        return steps.dropFirst(count).map { "/" + $0 }.joined()
    }
}
