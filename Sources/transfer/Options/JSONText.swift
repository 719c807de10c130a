import TransferCore
import TransferQueue

/// A value of a job file as JSON text.
struct JSONText {
    let text: String

    private init(_ text: String) { self.text = text }

    static func string(_ value: String) -> JSONText {
        var writer = JSONWriter()
        writer.string(value)
        return JSONText(String(decoding: writer.end(), as: UTF8.self))
    }

    /// Returns a path as an absolute one, from the working folder.
    static func path(_ value: String) -> JSONText { string(Composition.absolute(value)) }

    static let `true` = JSONText("true")

    static func number(_ value: Int) -> JSONText { JSONText("\(value)") }

    static func array(_ values: [JSONText]) -> JSONText {
        JSONText("[\(values.map(\.text).joined(separator: ", "))]")
    }

    static func object(_ members: KeyValuePairs<String, JSONText>) -> JSONText {
        let members = members.map { "\(string($0.key).text): \($0.value.text)" }
        return JSONText("{\(members.joined(separator: ", "))}")
    }

    /// Creates the reference to a secret.
    init(_ value: SecretText) {
        self =
            switch value {
            case .literal(let text): .string(text)
            case .environment(let name): .object(["env": .string(name)])
            case .file(let path): .object(["file": .path(path)])
            case .credential(let name): .object(["credential": .string(name)])
            }
    }
}
