import Foundation

/// A validator for the part of JSON Schema (draft 2020-12) that the schemas of job files and configurations use.
struct JSONSchema {
    let root: [String: Any]

    func definition(_ name: String) -> [String: Any] {
        (root["$defs"] as? [String: Any])?[name] as? [String: Any] ?? [:]
    }

    func accepts(_ value: Any) -> Bool { accepts(value, root) }

    private func accepts(_ value: Any, _ rule: Any) -> Bool {
        guard let rule = rule as? [String: Any] else { return (rule as? Bool) ?? false }
        if let reference = rule["$ref"] as? String {
            let name = reference.replacingOccurrences(of: "#/$defs/", with: "")
            guard accepts(value, definition(name)) else { return false }
        }
        if let type = rule["type"] as? String, !Self.isOf(type, value) { return false }
        if let constant = rule["const"], !Self.equal(constant, value) { return false }
        if let words = rule["enum"] as? [Any], !words.contains(where: { Self.equal($0, value) }) { return false }
        if let rules = rule["anyOf"] as? [Any], !rules.contains(where: { accepts(value, $0) }) { return false }
        if let rules = rule["oneOf"] as? [Any], rules.count(where: { accepts(value, $0) }) != 1 { return false }
        if let object = value as? [String: Any] { return acceptsObject(object, rule) }
        if let array = value as? [Any] { return acceptsArray(array, rule) }
        if value is NSNull { return true }
        if let text = value as? String { return acceptsString(text, rule) }
        return acceptsNumber(value, rule)
    }

    private func acceptsObject(_ object: [String: Any], _ rule: [String: Any]) -> Bool {
        if let required = rule["required"] as? [String], !required.allSatisfy({ object[$0] != nil }) { return false }
        if let least = rule["minProperties"] as? Int, object.count < least { return false }
        if let most = rule["maxProperties"] as? Int, object.count > most { return false }
        let properties = rule["properties"] as? [String: Any] ?? [:]
        let patterns = rule["patternProperties"] as? [String: Any] ?? [:]
        return object.allSatisfy { key, value in
            if let names = rule["propertyNames"], !accepts(key, names) { return false }
            let rules =
                [properties[key]].compactMap(\.self) + patterns.filter { Self.matches(key, $0.key) }.map(\.value)
            if !rules.isEmpty { return rules.allSatisfy { accepts(value, $0) } }
            return rule["additionalProperties"].map { accepts(value, $0) } ?? true
        }
    }

    private func acceptsArray(_ array: [Any], _ rule: [String: Any]) -> Bool {
        if let least = rule["minItems"] as? Int, array.count < least { return false }
        if rule["uniqueItems"] as? Bool == true, NSSet(array: array).count != array.count { return false }
        let first = rule["prefixItems"] as? [Any] ?? []
        guard zip(array, first).allSatisfy({ accepts($0, $1) }) else { return false }
        guard let items = rule["items"] else { return true }
        return array.dropFirst(first.count).allSatisfy { accepts($0, items) }
    }

    private func acceptsString(_ text: String, _ rule: [String: Any]) -> Bool {
        if let least = rule["minLength"] as? Int, text.unicodeScalars.count < least { return false }
        if let most = rule["maxLength"] as? Int, text.unicodeScalars.count > most { return false }
        return (rule["pattern"] as? String).map { Self.matches(text, $0) } ?? true
    }

    private func acceptsNumber(_ value: Any, _ rule: [String: Any]) -> Bool {
        guard !Self.isBoolean(value), let number = (value as? NSNumber)?.doubleValue else { return true }
        if let least = rule["minimum"] as? Double, number < least { return false }
        if let most = rule["maximum"] as? Double, number > most { return false }
        if let bound = rule["exclusiveMinimum"] as? Double, number <= bound { return false }
        return true
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": return value is [String: Any]
        case "array": return value is [Any]
        case "string": return value is String
        case "boolean": return isBoolean(value)
        case "null": return value is NSNull
        default:
            guard !isBoolean(value), let number = value as? NSNumber else { return false }
            return type == "number" || number.doubleValue.rounded() == number.doubleValue
        }
    }

    private static func isBoolean(_ value: Any) -> Bool {
        (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? (value is Bool)
    }

    private static func equal(_ one: Any, _ other: Any) -> Bool {
        if let one = one as? String { return one == other as? String }
        if one is NSNull || other is NSNull { return one is NSNull && other is NSNull }
        return (one as? NSNumber) == (other as? NSNumber)
    }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        text.range(of: pattern, options: .regularExpression) != nil
    }
}
