import Foundation

/// A JSON Schema as text, always the same for the same schema. A value stands on one line where it fits, and keys stand
/// in the order in which people read them.
enum SchemaText {
    private static let width = 120
    private static let order = [
        "$schema", "$id", "title", "description", "$ref", "type", "const", "enum", "required", "minProperties",
        "maxProperties", "minItems", "minLength", "maxLength", "minimum", "exclusiveMinimum", "maximum", "pattern",
        "propertyNames", "patternProperties", "additionalProperties", "prefixItems", "items", "anyOf", "oneOf",
        "default", "properties", "$defs",
    ]

    /// - Parameter value: An object as `JSONSerialization` reads it.
    static func text(_ value: Any, indent: Int = 0, isNamed: Bool = false, used: Int = 0) -> String {
        let line = self.line(value, isNamed: isNamed)
        if indent + used + line.count < width, !holdsMuch(value) { return line }
        let (inner, outer) = (String(repeating: " ", count: indent + 2), String(repeating: " ", count: indent))
        if let object = value as? [String: Any] {
            let members = keys(object, isNamed: isNamed).map { key in
                let name = "\(string(key)): "
                let text = self.text(
                    object[key] ?? NSNull(), indent: indent + 2, isNamed: names(key, isNamed), used: name.count)
                return inner + name + text
            }
            return "{\n\(members.joined(separator: ",\n"))\n\(outer)}"
        }
        guard let array = value as? [Any] else { return line }
        return "[\n\(array.map { inner + text($0, indent: indent + 2) }.joined(separator: ",\n"))\n\(outer)]"
    }

    private static func line(_ value: Any, isNamed: Bool) -> String {
        switch value {
        case let object as [String: Any]:
            let members = keys(object, isNamed: isNamed).map { key in
                "\(string(key)): \(line(object[key] ?? NSNull(), isNamed: names(key, isNamed)))"
            }
            return members.isEmpty ? "{}" : "{ \(members.joined(separator: ", ")) }"
        case let array as [Any]: return "[\(array.map { line($0, isNamed: false) }.joined(separator: ", "))]"
        case let text as String: return string(text)
        case is NSNull: return "null"
        default:
            guard let number = value as? NSNumber else { return "\(value)" }
            if String(cString: number.objCType) == "c" { return number.boolValue ? "true" : "false" }
            let isWhole = number.doubleValue == number.doubleValue.rounded()
            return isWhole ? "\(number.int64Value)" : "\(number.doubleValue)"
        }
    }

    /// Decides whether the keys of a key's object are names and not keywords of JSON Schema.
    private static func names(_ key: String, _ isNamed: Bool) -> Bool {
        !isNamed && ["properties", "patternProperties", "$defs"].contains(key)
    }

    /// Decides whether a value is a definition with properties, which gets a line for each.
    private static func holdsMuch(_ value: Any) -> Bool {
        guard let object = value as? [String: Any], let properties = object["properties"] as? [String: Any] else {
            return false
        }
        return properties.count > 1
    }

    private static func keys(_ object: [String: Any], isNamed: Bool) -> [String] {
        guard !isNamed else { return object.keys.sorted() }
        return object.keys.sorted { one, other in
            let (first, second) = (order.firstIndex(of: one) ?? order.count, order.firstIndex(of: other) ?? order.count)
            return (first, one) < (second, other)
        }
    }

    private static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
