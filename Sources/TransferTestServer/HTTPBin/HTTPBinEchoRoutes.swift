/// The routes of httpbin that return the data of the request.
enum HTTPBinEchoRoutes {
    static let all: [HTTPBinRoute] = [
        HTTPBinRoute("/get") { .json(.object($0.described)) },
        HTTPBinRoute("/post", ["POST"]) { .json(.object($0.describedWithBody)) },
        HTTPBinRoute("/put", ["PUT"]) { .json(.object($0.describedWithBody)) },
        HTTPBinRoute("/patch", ["PATCH"]) { .json(.object($0.describedWithBody)) },
        HTTPBinRoute("/delete", ["DELETE"]) { .json(.object($0.describedWithBody)) },
        HTTPBinRoute("/anything/*", HTTPBinRoute.everyMethod) { request in
            .json(.object(request.describedWithBody.merging(["method": .string(request.method)]) { $1 }))
        },
        HTTPBinRoute("/headers") { .json(.object(["headers": $0.describedHeaders])) },
        HTTPBinRoute("/ip") { .json(.object(["origin": .string($0.origin)])) },
        HTTPBinRoute("/user-agent") { request in
            .json(.object(["user-agent": request.headers["User-Agent"].map(JSONValue.string) ?? .null]))
        },
        HTTPBinRoute("/delay/:", HTTPBinRoute.everyMethod) { request in
            guard let seconds = Double(request.parameters[0]) else { return .page("Not Found", status: 404) }
            var plan = ResponsePlan.json(.object(request.describedWithBody.filter { $0.key != "json" }))
            if seconds > 0 { plan.opening = .heldHead }
            return plan
        },
    ]
}

extension HTTPBinRequest {
    /// The members that are the same for every method.
    var described: [String: JSONValue] {
        ["args": args.json, "headers": describedHeaders, "origin": .string(origin), "url": .string(url)]
    }

    /// The header fields with capitalized names, and values of one name joined, as WSGI provides them.
    var describedHeaders: JSONValue {
        let named = Dictionary(grouping: self.headers.fields) { field in
            field.name.split(separator: "-", omittingEmptySubsequences: false)
                .map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }.joined(separator: "-")
        }
        return .object(named.mapValues { .string($0.map(\.value).joined(separator: ",")) })
    }

    /// The members for a request with a body: `form` and `files` for a form, and otherwise `data`, and `json` where it
    /// is JSON.
    var describedWithBody: [String: JSONValue] {
        var form = FormFields()
        var files = FormFields()
        var data: ArraySlice<UInt8> = []
        let type = self.headers["Content-Type"] ?? ""
        if let multipart = MultipartForm(request.body, contentType: type) {
            for part in multipart.parts {
                if part.fileName == nil {
                    form.add(part.name, String(decoding: part.body, as: UTF8.self))
                } else {
                    files.add(part.name, Self.text(part.body, type: part.contentType))
                }
            }
        } else if type.lowercased().hasPrefix("application/x-www-form-urlencoded") {
            form = FormFields(String(decoding: request.body, as: UTF8.self))
        } else {
            data = request.body[...]
        }
        let body: [String: JSONValue] = [
            "data": .string(Self.text(data, type: nil)), "files": files.json, "form": form.json,
            "json": JSONParser.value(Array(data)) ?? .null,
        ]
        return described.merging(body) { $1 }
    }

    /// Returns a body as text, or as a `data:` URL (RFC 2397) where it is not text.
    private static func text(_ bytes: ArraySlice<UInt8>, type: String?) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? "data:\(type ?? "application/octet-stream");base64,\(Base64.encoded(bytes))"
    }
}
