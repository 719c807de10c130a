import Foundation
import Testing
import TransferCore

@testable import TransferJobs

/// The agreement of `jobs/transfer-config.schema.json` with the decoder.
@Suite struct ConfigurationSchemaTests {
    private let schema: JSONSchema

    init() throws {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: root.appendingPathComponent("jobs/transfer-config.schema.json"))
        schema = JSONSchema(root: try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any]))
    }

    @Test func hasTheDecodersKeysAtEveryLevel() throws {
        func keys(_ name: String?) throws -> Set<String> {
            let object = name.map { schema.definition($0) } ?? schema.root
            return Set(try #require(object["properties"] as? [String: Any]).keys)
        }
        #expect(try keys(nil) == Set(ConfigurationKey.table.names))
        #expect(try keys("defaults") == Set(ConfigurationFields.defaults.names))
        for section in ["origin", "pattern", "bucket"] {
            #expect(try keys(section) == Set(OriginKey.table.names), "\(section)")
        }
        #expect(try keys("originLimits") == Set(OriginLimitKey.table.names))
        #expect(try keys("limits") == Set(LimitKey.table.names))
        #expect(try keys("tls") == Set(SettingsFields.tls.table.names))
        #expect(try keys("auth") == Set(AccessFields.credentials.table.names))
        let text = "\(schema.root)"
        for name in LinkKey.table.names + MetricsKey.table.names + ServeKey.table.names {
            #expect(text.contains(name), "\(name)")
        }
    }

    @Test func eachDefinitionIsThereAndReferredTo() throws {
        func references(_ value: Any) -> Set<String> {
            if let array = value as? [Any] { return array.reduce(into: []) { $0.formUnion(references($1)) } }
            guard let object = value as? [String: Any] else { return [] }
            let own = (object["$ref"] as? String).map { [String($0.dropFirst("#/$defs/".count))] } ?? []
            return object.values.reduce(into: Set(own)) { $0.formUnion(references($1)) }
        }
        let names = Set(try #require(schema.root["$defs"] as? [String: Any]).keys)
        #expect(names == references(schema.root) && names.count > 20)
        #expect(names.filter { schema.definition($0).isEmpty } == [])
    }

    /// Members besides the version, and whether they are valid.
    private static let members: [(String, Bool)] = [
        ("", true), (#""$schema": "transfer-config.schema.json", "x-why": [1]"#, true), (#""$schema": 1"#, false),
        (#""jobs": []"#, false), (#""default": {}"#, false), (#""defaults": null, "limits": null"#, true),
        (#""defaults": {"retry": {"limit": 20}, "proxy": "http://proxy.lan:3128"}"#, true),
        (#""defaults": {"retry": {"limit": -1}}"#, false), (#""defaults": {"retry": {"limit": null}}"#, true),
        (#""defaults": {"retry": null, "timeout": "30s", "x-a": 1}"#, true),
        (#""defaults": {"timeout": "soon"}"#, false),
        (#""defaults": {"to": "/a"}"#, false), (#""defaults": {"checksums": "/SUMS"}"#, false),
        (#""defaults": {"tls": {"ca": "/a.pem"}}"#, true), (#""defaults": {"tls": {"ca": "a.pem"}}"#, false),
        (#""defaults": {"tls": {"insecure": true}}"#, false), (#""defaults": {"tls": {"insecure": false}}"#, true),
        (#""defaults": {"auth": {"user": "me", "password": {"file": "/p"}}}"#, true),
        (#""defaults": {"auth": {"user": "me", "password": {"file": "p"}}}"#, false),
        (#""defaults": {"auth": {"user": "me", "password": "p"}}"#, false),
        (#""defaults": {"auth": {"netrc": "netrc"}}"#, false), (#""defaults": {"cookies": "/c"}"#, true),
        (#""defaults": {"cookies": "c"}"#, false), (#""defaults": {"segments": 4}"#, true),
        (#""defaults": {"headers": {"A": "b", "B": {"env": "C"}, "C": null}}"#, true),
        (#""defaults": {"headers": {"A": 1}}"#, false),
        (#""defaults": {"network": {"avoid": ["wwan*"]}}"#, true), (#""defaults": {"network": {"avoid": 1}}"#, false),
        (#""defaults": {"onFinish": "mail-ops"}"#, true), (#""defaults": {"onFinish": "a/b"}"#, false),
        (#""limits": {"concurrency": 32, "limitRate": "50M"}"#, true), (#""limits": {"perHost": "auto"}"#, true),
        (#""limits": {"concurrency": 0}"#, false), (#""limits": {"concurrency": null}"#, true),
        (#""origins": {"https://cdn.example": {"perHost": 4, "auth": {"netrc": true}}}"#, true),
        (
            #""origins": {"*.lan": {"proxy": "", "tls": {"ca": "/etc/ssl/lan.pem"}}, "s3://archive": {"s3": {"profile": "ops"}}}"#,
            true
        ),
        (#""origins": {"cdn.example:8443": {"limits": {"perHost": 2, "limitRate": "1M"}}}"#, true),
        (#""origins": {"a.lan": {"perHost": "auto"}}"#, true),
        (#""origins": {"a.lan": {"limits": {"requestRate": "20/s"}}}"#, true),
        (#""origins": {"a.lan": {"limits": {"requestRate": "20/d"}}}"#, false),
        (#""origins": {"a.lan": {"perHost": "many"}}"#, false), (#""origins": {"a.lan": {"limits": {"x": 1}}}"#, false),
        (#""origins": {"a.lan": null}"#, true), (#""origins": {"a.lan": {"perHost": null}}"#, true),
        (#""origins": {"a.lan": []}"#, false), (#""origins": {"a.lan": {"concurrency": 1}}"#, false),
        (#""origins": {"s3://b": {"perHost": 1}}"#, false), (#""origins": {"https://a/b": {}}"#, false),
        (#""origins": {"https://me@a": {}}"#, false), (#""origins": {"gopher://a": {}}"#, false),
        (#""origins": {"https://a": {"tls": {"insecure": true}}}"#, true),
        (#""origins": {"*.a": {"tls": {"insecure": true}}}"#, false),
        (#""links": {"eth1": {"metered": true}, "wwan*": {"metered": false}, "lo": null}"#, true),
        (#""links": {"eth1": {"metered": 1}}"#, false), (#""links": {"eth1": {"cheap": true}}"#, false),
        (#""links": {"a/b": {}}"#, false), (#""links": []"#, false),
        (#""commands": {"mail-ops": ["/usr/local/bin/mail-ops", "--queue", ""], "old": null}"#, true),
        (#""commands": {"mail": ["mail"]}"#, false), (#""commands": {"mail": []}"#, false),
        (#""commands": {"mail": "/bin/mail"}"#, false), (#""commands": {"": ["/bin/mail"]}"#, false),
        (#""metrics": {"file": "/var/lib/a.prom", "x-a": 1}"#, true), (#""metrics": {"file": null}"#, true),
        (#""metrics": {"file": "a.prom"}"#, false), (#""metrics": {"file": "/a.txt"}"#, false),
        (#""metrics": {"file": "/b/.prom"}"#, false), (#""metrics": {"port": 1}"#, false),
        (#""serve": {"listen": "127.0.0.1:6800"}, "queue": {}"#, true), (#""serve": []"#, false),
        (#""serve": {"directory": "/srv", "secret": {"credential": "s"}, "allowPrivate": null, "x-a": 1}"#, true),
        (#""serve": {"allowOrigin": ["null", "https://a.example"], "allowSecret": {"c": ["https://a"]}}"#, true),
        (#""serve": {"directory": "srv"}"#, false), (#""serve": {"listen": ""}"#, false),
        (#""serve": {"secret": "s3cret-s3cret"}"#, false), (#""serve": {"allowOrigin": ["*"]}"#, false),
        (#""serve": {"allowOrigin": ["https://a/"]}"#, false), (#""serve": {"allowPrivate": 1}"#, false),
        (#""serve": {"allowSecret": {"": []}}"#, false), (#""serve": {"port": 1}"#, false),
    ]

    @Test(arguments: members) func agreesWithTheDecoder(members: String, isValid: Bool) throws {
        try check(#"{"version": 1\#(members.isEmpty ? "" : ", ")\#(members)}"#, isValid)
    }

    @Test(arguments: ["[]", "{}", #"{"version": 2}"#, #"{"version": null}"#, #"{"defaults": {}}"#])
    func agreesWithTheDecoderOnInvalidFiles(text: String) throws { try check(text, false) }

    private func check(_ text: String, _ isValid: Bool) throws {
        let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect(schema.accepts(value) == isValid, "schema")
        let decoded = Result { () throws(ConfigurationFile.Faults) in
            try ConfigurationFile(Array(text.utf8), name: "c")
        }
        switch decoded {
        case .success: #expect(isValid, "decoder")
        case .failure(let faults): #expect(!isValid, "decoder: \(faults.report.rendered(file: "c"))")
        }
    }
}
