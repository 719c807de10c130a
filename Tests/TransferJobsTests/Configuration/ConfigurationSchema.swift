import Foundation

@testable import TransferJobs

/// The schema of a configuration file, generated from the decoder's tables and from the job file schema's definitions
/// of the same keys.
///
/// `make tables` writes it; a test compares.
struct ConfigurationSchema {
    private let definitions: [String: Any]

    /// - Parameter jobs: The schema of job files.
    init(jobs: String) throws {
        let root = try JSONSerialization.jsonObject(with: Data(jobs.utf8)) as? [String: Any]
        definitions = root?["$defs"] as? [String: Any] ?? [:]
    }

    var text: String { SchemaText.text(root) + "\n" }

    private var root: [String: Any] {
        var properties: [String: Any] = [:]
        for key in ConfigurationKey.table.keys { properties[key.rawValue] = top(key) }
        var made: [String: Any] = [
            "defaults": object(defaults(isTrusting: false)), "origin": object(origin()),
            "pattern": object(origin(isTrusting: false)), "bucket": object(origin(isBucket: true)),
            "originLimits": object(originLimits),
        ]
        // The closure of references: definitions that the properties name, and definitions that those name.
        var wanted = Self.references(in: [properties, made])
        while let name = wanted.first(where: { made[$0] == nil }) {
            made[name] = definition(name)
            wanted.formUnion(Self.references(in: made[name] ?? [:]))
        }
        let version = properties.removeValue(forKey: ConfigurationKey.version.rawValue)
        var result = object(properties)
        // The version is the one key that has to have a value.
        var all = result["properties"] as? [String: Any] ?? [:]
        all[ConfigurationKey.version.rawValue] = version
        result["properties"] = all
        result["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        result["$id"] = "https://transferkit.example/transfer-config.schema.json"
        result["title"] = "A configuration file of transfer, version 1"
        result["required"] = ["version"]
        result["$defs"] = made
        return result
    }

    private func top(_ key: ConfigurationKey) -> [String: Any] {
        switch key {
        case .schema: ["type": "string"]
        case .version: ["const": 1]
        case .defaults:
            Self.described("The defaults of all jobs: the keys of a job file's defaults.", ["$ref": "#/$defs/defaults"])
        case .limits: Self.described("The limits for all jobs together.", ["$ref": "#/$defs/limits"])
        case .origins: Self.described("The rules for single servers, under their origins or names.", origins)
        case .links:
            Self.described(
                "The rules for links, under their names or patterns of names.",
                named(#"^[^/\s]+$"#, object(["metered": ["type": "boolean"]], of: LinkKey.table.names)))
        case .commands:
            Self.described(
                "The commands that onFinish may name: a program's absolute path, and its arguments.", commands)
        case .metrics:
            Self.described(
                "The metrics of runs.",
                object([
                    MetricsKey.file.rawValue: Self.described(
                        "The absolute path of the file that the metrics are written to; its name ends in .prom.",
                        ["type": "string", "pattern": #"^/[^\u0000]*[^/\u0000]\.prom$"#])
                ]))
        case .serve: Self.described("The settings of the service (transfer serve).", serve)
        case .queue: ["type": "object"]
        }
    }

    // MARK: Parts

    private var serve: [String: Any] {
        func list(_ rule: [String: Any]) -> [String: Any] { ["type": "array", "items": rule] }
        return object([
            ServeKey.listen.rawValue: Self.described(
                "The address to listen at: a port of this machine, or unix:PATH.", ["type": "string", "minLength": 1]),
            ServeKey.directory.rawValue: Self.described(
                "The folder that contains all files of clients' jobs.", ["type": "string", "pattern": "^/"]),
            ServeKey.secret.rawValue: Self.described(
                "The secret of clients.", ["$ref": "#/$defs/secretName"]),
            ServeKey.allowOrigin.rawValue: Self.described(
                "The origins of pages that may send requests.",
                list(["type": "string", "pattern": #"^(null|.*://(.*[^/])?)$"#])),
            ServeKey.allowPrivate.rawValue: Self.described(
                "Whether jobs of clients may connect to servers of private networks and of this machine.",
                ["type": "boolean"]),
            ServeKey.allowSecret.rawValue: Self.described(
                "The servers at which jobs of clients may use each credential.",
                named("^.", list(["type": "string", "minLength": 1]))),
            ServeKey.keep.rawValue: Self.described(
                "The time for which batches of clients are kept after their end.", ["$ref": "#/$defs/duration"]),
        ])
    }

    private var origins: [String: Any] {
        [
            "type": "object",
            "propertyNames": [
                "pattern":
                    #"^(([Hh][Tt][Tt][Pp][Ss]?|[Ss]3|[Ff][Tt][Pp][Ss]?|[Ss][Ff][Tt][Pp])://)?[^\s/?#@"<>^`{|}\\]+/?$"#
            ],
            "patternProperties": [
                "^[Ss]3://": Self.orNull(["$ref": "#/$defs/bucket"]),
                #"^[^*]*\*"#: Self.orNull(["$ref": "#/$defs/pattern"]),
            ],
            "additionalProperties": Self.orNull(["$ref": "#/$defs/origin"]),
        ]
    }

    private var commands: [String: Any] {
        [
            "type": "object", "propertyNames": ["minLength": 1],
            "additionalProperties": Self.orNull([
                "type": "array", "minItems": 1, "prefixItems": [["type": "string", "pattern": "^/"]],
                "items": ["type": "string", "pattern": #"^[^\u0000]*$"#],
            ]),
        ]
    }

    private var originLimits: [String: Any] {
        let limits = (definitions["limits"] as? [String: Any])?["properties"] as? [String: Any]
        var rate = limits?["requestRate"] as? [String: Any]
        rate?["description"] = "The number of starts a second at each origin: \"20/s\"."
        let known: [String: Any] = [
            "perHost": ["$ref": "#/$defs/perHost"], "limitRate": ["$ref": "#/$defs/byteRate"],
            "requestRate": rate as Any,
        ]
        return known.filter { OriginLimitKey.table.names.contains($0.key) }
    }

    /// - Parameter isTrusting: Whether unchecked certificates may be allowed.
    private func defaults(isTrusting: Bool = true) -> [String: Any] {
        let known = (definitions["defaults"] as? [String: Any])?["properties"] as? [String: Any] ?? [:]
        var properties = known.filter { ConfigurationFields.defaults.names.contains($0.key) }
        if !isTrusting {
            properties["tls"] = ["$ref": "#/$defs/tls", "properties": ["insecure": ["enum": [false, NSNull()]]]]
        }
        return properties
    }

    private func origin(isTrusting: Bool = true, isBucket: Bool = false) -> [String: Any] {
        var properties = defaults(isTrusting: isTrusting)
        for key in OriginKey.table.keys {
            switch key {
            case .perHost: properties[key.name] = isBucket ? ["type": "null"] : ["$ref": "#/$defs/perHost"]
            case .limits: properties[key.name] = ["$ref": "#/$defs/originLimits"]
            case .job: break
            }
        }
        return properties
    }

    /// A definition of the job file's schema in the form of a configuration: paths are absolute, and `null` unsets a
    /// key.
    private func definition(_ name: String) -> Any {
        switch name {
        case "path": return ["type": "string", "pattern": #"^/[^\u0000]*$"#]
        case "perHost":
            let limits = (definitions["limits"] as? [String: Any])?["properties"] as? [String: Any]
            return (limits?["perHost"] as? [String: Any])?.filter { $0.key == "anyOf" } ?? [:]
        default: break
        }
        guard var known = definitions[name] as? [String: Any] else { return [String: Any]() }
        if name == "secretName", var sources = known["properties"] as? [String: [String: Any]] {
            sources["file"]?["pattern"] = "^/"
            known["properties"] = sources
            return known
        }
        return Self.allowingNull(known)
    }

    // MARK: Forms

    /// - Parameter names: The decoder's keys, where `properties` has more.
    private func object(_ properties: [String: Any], of names: [String]? = nil) -> [String: Any] {
        Self.allowingNull([
            "type": "object", "patternProperties": ["^x-": true], "additionalProperties": false,
            "properties": properties.filter { names?.contains($0.key) ?? true },
        ])
    }

    private func named(_ pattern: String, _ value: [String: Any]) -> [String: Any] {
        ["type": "object", "propertyNames": ["pattern": pattern], "additionalProperties": Self.orNull(value)]
    }

    private static func described(_ text: String, _ rule: [String: Any]) -> [String: Any] {
        rule.merging(["description": text]) { $1 }
    }

    private static func orNull(_ rule: [String: Any]) -> [String: Any] {
        takesNull(rule) ? rule : ["anyOf": [rule, ["type": "null"]]]
    }

    private static func takesNull(_ rule: [String: Any]) -> Bool {
        (rule["anyOf"] as? [[String: Any]])?.contains { $0["type"] as? String == "null" } ?? false
    }

    /// Allows `null` for each key of an object.
    private static func allowingNull(_ rule: [String: Any]) -> [String: Any] {
        var rule = rule
        if let values = rule["additionalProperties"] as? [String: Any] { rule["additionalProperties"] = orNull(values) }
        guard let properties = rule["properties"] as? [String: Any] else { return rule }
        rule["properties"] = properties.mapValues { value -> Any in
            guard var one = value as? [String: Any] else { return value }
            let text = one.removeValue(forKey: "description")
            let standard = one.removeValue(forKey: "default")
            let choices = one.count == 1 ? one["anyOf"] as? [[String: Any]] : nil
            var result = takesNull(one) ? one : choices.map { ["anyOf": $0 + [["type": "null"]]] } ?? orNull(one)
            result["description"] = text
            result["default"] = standard
            return result
        }
        return rule
    }

    private static func references(in value: Any) -> Set<String> {
        if let array = value as? [Any] { return array.reduce(into: []) { $0.formUnion(references(in: $1)) } }
        guard let object = value as? [String: Any] else { return [] }
        var names = object.values.reduce(into: Set<String>()) { $0.formUnion(references(in: $1)) }
        if let reference = object["$ref"] as? String { names.insert(String(reference.dropFirst("#/$defs/".count))) }
        return names
    }
}
