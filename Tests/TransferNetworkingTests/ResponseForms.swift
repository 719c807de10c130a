import TransferTestServer

/// The data from which every form of a response can be made.
enum ResponseForms {
    static let json = #"{"text":"hé"}"#
    static let list = """
        <?xml version="1.0" encoding="UTF-8"?>\
        <plist version="1.0"><dict><key>text</key><string>hi</string></dict></plist>
        """

    /// Runs a test with a server that serves the data.
    static func withServer(_ body: (TestServer) async throws -> Void) async throws {
        try await withTestServer { server async throws in
            server.serve("/json", ServedFile(.text(Self.json), contentType: "application/json; charset=utf-8"))
            server.serve("/list", ServedFile(.text(Self.list), contentType: "application/x-plist"))
            server.serve("/prefixed", ServedFile(.text(")]}',\n" + Self.json), contentType: "text/x; charset=utf-8"))
            server.handle(nil, "/empty") { _ in Response(status: 200) }
            try await body(server)
        }
    }
}
