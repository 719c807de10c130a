import TransferCore

/// A call of aria2's interface in XML-RPC, with its response.
///
/// The values are those of JSON-RPC: `base64` is a text, as `aria2.addMetalink` expects it, and a `double` is a number.
enum AriaXMLCall {
    /// Answers a call. As in aria2, an error is a fault with its code and its message.
    static func answer(_ bytes: [UInt8], by calls: AriaProtocol) async -> [UInt8] {
        guard let (name, parameters) = read(bytes) else { return fault(.parse) }
        switch await calls.result(name, parameters) {
        case .success(let result):
            return document("<params><param><value>\(text(result))</value></param></params>")
        case .failure(let error): return fault(error)
        }
    }

    // MARK: Calls

    /// Reads a call.
    ///
    /// - Returns: `nil` for bytes that are no whole call.
    static func read(_ bytes: [UInt8]) -> (name: String, parameters: [JSONValue])? {
        guard let call = XMLElement.read(bytes), call.name == "methodCall", call.isWhole,
            let name = call.text("methodName")
        else { return nil }
        var parameters: [JSONValue] = []
        for parameter in call.child("params")?.children ?? [] {
            guard parameter.name == "param", let element = parameter.child("value"), let value = value(element) else {
                return nil
            }
            parameters.append(value)
        }
        return (name, parameters)
    }

    private static func value(_ element: XMLElement) -> JSONValue? {
        // A value without a type is a string.
        guard let typed = element.children.first else { return .string(element.text) }
        let plain = typed.text.filter { !$0.isWhitespace }
        switch typed.name {
        case "string": return .string(typed.text)
        case "base64": return .string(plain)
        case "int", "i4", "i8": return Int(plain).map { .number(String($0)) }
        case "double": return Double(plain).flatMap { $0.isFinite ? .number(plain) : nil }
        case "boolean": return plain == "1" ? .boolean(true) : plain == "0" ? .boolean(false) : nil
        case "nil": return .null
        case "array":
            var values: [JSONValue] = []
            for element in typed.child("data")?.children ?? [] {
                guard element.name == "value", let value = value(element) else { return nil }
                values.append(value)
            }
            return .array(values)
        case "struct":
            var members: [String: JSONValue] = [:]
            for member in typed.children {
                guard let name = member.child("name")?.text, members[name] == nil,
                    let element = member.child("value"), let value = value(element)
                else { return nil }
                members[name] = value
            }
            return .object(members)
        default: return nil
        }
    }

    // MARK: Responses

    private static func fault(_ error: AriaError) -> [UInt8] {
        let value = JSONValue.object([
            "faultCode": .number(String(error.code)), "faultString": .string(error.message),
        ])
        return document("<fault><value>\(text(value))</value></fault>")
    }

    private static func document(_ content: String) -> [UInt8] {
        Array("<?xml version=\"1.0\"?><methodResponse>\(content)</methodResponse>".utf8)
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: return "<string></string>"
        case .boolean(let value): return "<boolean>\(value ? 1 : 0)</boolean>"
        case .number(let text): return Int(text) == nil ? "<double>\(text)</double>" : "<int>\(text)</int>"
        case .string(let text): return "<string>\(escaped(text))</string>"
        case .array(let values):
            return "<array><data>\(values.map { "<value>\(text($0))</value>" }.joined())</data></array>"
        case .object(let members):
            let content = members.sorted { $0.key < $1.key }.map { name, value in
                "<member><name>\(XMLElement.escaped(name))</name><value>\(text(value))</value></member>"
            }
            return "<struct>\(content.joined())</struct>"
        }
    }

    /// Returns the text without the control characters that XML cannot contain (XML 1.0 §2.2).
    private static func escaped(_ text: String) -> String {
        let allowed = text.unicodeScalars.filter { $0.value >= 0x20 || "\t\n\r".unicodeScalars.contains($0) }
        return XMLElement.escaped(String(String.UnicodeScalarView(allowed)))
    }
}
