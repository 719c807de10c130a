import Testing
import TransferCore
import TransferUpload

@Suite struct MissingFolderTests {
    @Test(
        arguments: [
            (409, nil, "PUT", "https://h/a/f", true), (404, nil, "PUT", "https://h/a/f", true),
            (500, "nginx/1.22.1", "PUT", "https://h/a/b/f?x=/y", true), (500, "nginx", "PUT", "https://h/f", false),
            (500, "Apache", "PUT", "https://h/a/f", false), (500, nil, "PUT", "https://h/a/f", false),
            (409, nil, "POST", "https://h/a/f", false), (409, nil, "PUT", "https://h/f", false),
            (403, "nginx", "PUT", "https://h/a/f", false), (507, nil, "PUT", "https://h/a/f", false),
        ] as [(Int, String?, String, String, Bool)])
    func aRefusalForAMissingFolderNamesTheRemedy(
        _ status: Int, _ server: String?, _ method: String, _ url: String, _ isHinted: Bool
    ) {
        let head = ResponseHead(status: status, fields: server.map { [HeaderField("Server", $0)] } ?? [])
        let hint = MissingFolder.hint(for: head, method: method, url: url)
        #expect((hint != nil) == isHinted)
        if let hint { #expect(hint.contains("\"createFolders\"")) }
    }
}
