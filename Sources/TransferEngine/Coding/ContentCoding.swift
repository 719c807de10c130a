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
