/// The request as httpbin reports it, in the form that a client decodes.
struct Echo: Decodable {
    enum Field: Decodable, Equatable {
        case one(String)
        case many([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let one = try? container.decode(String.self) {
                self = .one(one)
            } else {
                self = .many(try container.decode([String].self))
            }
        }
    }

    enum Value: Decodable, Equatable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case list([Value])
        case object([String: Value])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([Value].self) {
                self = .list(value)
            } else {
                self = .object(try container.decode([String: Value].self))
            }
        }
    }

    var args: [String: Field]?
    var authenticated: Bool?
    var cookies: [String: String]?
    var data: String?
    var files: [String: Field]?
    var form: [String: Field]?
    var headers: [String: String]?
    var id: Int?
    var json: Value?
    var method: String?
    var origin: String?
    var token: String?
    var url: String?
    var user: String?
    var userAgent: String?

    enum CodingKeys: String, CodingKey {
        case args, authenticated, cookies, data, files, form, headers, id, json, method, origin, token, url, user
        case userAgent = "user-agent"
    }
}
