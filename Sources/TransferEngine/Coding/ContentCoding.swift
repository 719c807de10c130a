import TransferCore

/// The content codings of responses (RFC 9110 §8.4.1).
///
/// Codings are removed here and not by libcurl: libcurl (7.88) does not check whether the coded stream came to its end.
/// Half a body would look like a whole one.
public enum ContentCoding {
    /// The codings to ask for, the most efficient one first.
    public static let decodable: [String] = (BrotliLayer.isAvailable ? ["br"] : []) + ["gzip", "deflate"]

    /// Returns the layers of a body in the order in which they were applied.
    static func layers(_ field: String) -> [Layer] {
        field.split(separator: ",").compactMap { part in
            let name = part.filter { $0 != " " && $0 != "\t" }.lowercased()
            return ["", "identity", "none"].contains(name) ? nil : Layer(name: name)
        }
    }

    /// Returns whether a request asks for every coding of a body by its Accept-Encoding (RFC 9110 §12.5.3).
    ///
    /// A request without the field does not ask for a coding, although it allows any.
    static func isRequested(_ field: String, by headers: [HeaderField]) -> Bool {
        let accepted = headers.filter { $0.isNamed("Accept-Encoding") }.flatMap { $0.value.split(separator: ",") }
            .map { $0.lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ";") }
            .filter { !($0.dropFirst().first.map { $0.hasPrefix("q=0") && !$0.contains { "1"..."9" ~= $0 } } ?? false) }
            .compactMap(\.first)
        return layers(field).allSatisfy { layer in
            accepted.contains { canonical($0) == canonical(layer.name) || $0 == "*" }
        }
    }

    /// Returns whether two values of Content-Encoding name the same codings; `x-gzip` is `gzip` (§8.4.1.3).
    static func areEqual(_ one: String, _ other: String) -> Bool {
        let names = [one, other].map { layers($0).map { canonical($0.name) } }
        return names[0] == names[1]
    }

    private static func canonical(_ name: some StringProtocol) -> String { name == "x-gzip" ? "gzip" : String(name) }

    /// One coding, by its name in the registry (RFC 9110 §8.4.1, §18.6; RFC 7932 for br, RFC 8878 for zstd).
    struct Layer: Equatable {
        let name: String

        var isAvailable: Bool {
            switch name {
            case "gzip", "x-gzip", "deflate": true
            case "br": BrotliLayer.isAvailable
            case "zstd": ZstandardLayer.isAvailable
            default: false
            }
        }

        func makeDecoder() throws(TransferError) -> any CodingLayer {
            switch name {
            case "gzip", "x-gzip": try InflateLayer(.gzip)
            case "deflate": try InflateLayer(.deflate)
            case "br": try BrotliLayer()
            case "zstd": try ZstandardLayer()
            default: throw TransferError(.internalFault, "no decoder for \(name)")
            }
        }
    }
}
