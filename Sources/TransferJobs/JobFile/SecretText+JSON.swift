package import TransferCore

extension SecretText: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        switch self {
        case .literal(let text): writer.string(text)
        case .environment(let text): writer.object { $0.member(SecretKey.env, text) }
        case .file(let text): writer.object { $0.member(SecretKey.file, text) }
        case .credential(let text): writer.object { $0.member(SecretKey.credential, text) }
        }
    }
}
