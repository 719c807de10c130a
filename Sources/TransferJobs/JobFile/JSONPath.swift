/// The JSON path of a byte, found by reading the document up to that byte again. Only faults bear the cost.
///
/// The search tolerates malformed text, since it must describe the place where a document is malformed.
package enum JSONPath {
    private enum Container {
        case object(key: Range<Int>?)
        case array(index: Int)
    }

    /// Returns the path of a byte.
    ///
    /// - Parameters:
    ///   - start: The first byte of the value whose own path is `prefix`.
    ///   - target: The byte in question; within a key, the path names that key.
    package static func of(
        _ target: Int, in bytes: UnsafeBufferPointer<UInt8>, from start: Int, prefix: String
    ) -> String {
        var containers: [Container] = []
        var index = start
        while index < min(target, bytes.count) {
            switch bytes[index] {
            case UInt8(ascii: "{"): containers.append(.object(key: nil))
            case UInt8(ascii: "["): containers.append(.array(index: 0))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = containers.popLast()
            case UInt8(ascii: ","):
                switch containers.popLast() {
                case .object: containers.append(.object(key: nil))
                case .array(let element): containers.append(.array(index: element + 1))
                case nil: break
                }
            case UInt8(ascii: "\""):
                let end = LineTokens.endOfString(at: index, in: bytes)
                note(key: index + 1..<max(index + 1, end - 1), in: &containers)
                index = end - 1
            default: break
            }
            index += 1
        }
        if target < bytes.count, index == target, bytes[target] == UInt8(ascii: "\"") {
            let end = LineTokens.endOfString(at: target, in: bytes)
            note(key: target + 1..<max(target + 1, end - 1), in: &containers)
        }
        return prefix + containers.map { component($0, bytes) }.joined()
    }

    private static func note(key: Range<Int>, in containers: inout [Container]) {
        if case .object(key: nil) = containers.last { containers[containers.count - 1] = .object(key: key) }
    }

    private static func component(_ container: Container, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        switch container {
        case .array(let index): return "[\(index)]"
        case .object(nil): return ""
        case .object(let key?):
            let name = bytes[key]
            let isPlain = name.allSatisfy {
                ($0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z")) || $0 == UInt8(ascii: "_")
                    || $0 == UInt8(ascii: "$") || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
            }
            let text = String(decoding: name, as: UTF8.self)
            return isPlain && !text.isEmpty ? ".\(text)" : "[\(Wording.quoted(text))]"
        }
    }
}
