import TransferQueue

/// Jobs as a client sends them, alone or in an array, in the frame that makes a job file of them.
struct JobFrame {
    let file: [UInt8]
    private let steps: Int
    private let shift: Int

    /// - Parameter isJobs: Whether there is a frame to be added.
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

    /// Whether the bytes are one object that stands alone.
    static func isSingle(_ bytes: [UInt8], _ format: JobFileFormat?) -> Bool {
        format == .json && bytes.first { $0 > 0x20 } == UInt8(ascii: "{")
    }

    /// The place as the client knows it.
    func pointer(ofPath path: String) -> String { JSONPointer.text(ofPath: path, dropping: steps) }

    func column(of span: SourceSpan) -> Int { max(1, span.column - (span.line == 1 ? shift : 0)) }
}

/// Places in JSON as RFC 6901 has them.
enum JSONPointer {
    /// - Parameters:
    ///   - path: `$.jobs[0].to`
    ///   - count: Steps at the beginning that are left out.
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
