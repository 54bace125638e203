"""API descriptions of different styles, each a little untidy, as they are."""

OPENAPI_31_YAML = """
openapi: 3.1.0
info:
  title: Book Shop API
  description: "Sells *books*. And more."
servers:
  - url: "{scheme}://api.books.example/{version}"
    variables:
      scheme: {default: https}
      version: {default: v2}
security:
  - token: []
components:
  securitySchemes:
    token: {type: http, scheme: Bearer}
  parameters:
    Limit:
      name: limit
      in: query
      description: How many to show
      schema: {type: integer, minimum: 1, maximum: 50, default: 10}
  schemas:
    Entity:
      type: object
      properties:
        id: {type: integer, readOnly: true}
    Book:
      allOf:
        - $ref: '#/components/schemas/Entity'
        - type: object
          required: [title]
          properties:
            title: {type: string, examples: ["Emma"]}
            price: {type: [number, "null"], minimum: 0}
            state: {type: string, enum: [new, used]}
            tags: {type: array, items: {type: string}}
            author: {type: object, properties: {name: {type: string}}}
            next: {$ref: '#/components/schemas/Book'}
paths:
  /books:
    get:
      operationId: listBooks
      summary: List all books.
      tags: [books]
      parameters:
        - $ref: '#/components/parameters/Limit'
        - {name: "filter[state]", in: query, schema: {type: string, enum: [new, used]}}
        - {name: since, in: query, schema: {type: string, format: date}}
        - {name: ids, in: query, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: X-Trace-ID, in: header, schema: {type: string}}
        - {name: session, in: cookie, schema: {type: string}}
      responses:
        '200':
          content:
            application/json:
              schema:
                type: object
                properties:
                  total: {type: integer}
                  data: {type: array, items: {$ref: '#/components/schemas/Book'}}
    post:
      operationId: addBook
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Book'}
  /books/{bookId}:
    parameters:
      - {name: bookId, in: path, required: true, schema: {type: integer}}
    get:
      operationId: getBook
      summary: Get a book
      responses:
        '200':
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Book'}
    delete:
      summary: Get a book
    put:
      deprecated: true
  /books/{bookId}/cover:
    post:
      operationId: upload
      parameters:
        - {name: bookId, in: path, required: true, schema: {type: integer}}
      requestBody:
        required: true
        content: {image/png: {}}
  /broken/{missing}:
    get: {operationId: broken}
"""

OPENAPI_30_JSON = """
{
  "openapi": "3.0.3",
  "info": {"title": "The REST API"},
  "servers": [{"url": "/api"}],
  "components": {"securitySchemes": {
    "key": {"type": "apiKey", "in": "query", "name": "apikey"}
  }},
  "paths": {
    "/convert": {
      "post": {
        "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {
          "type": "object",
          "required": ["amount"],
          "properties": {"amount": {"type": "number"}, "note": {"type": "string"}}
        }}}}
      }
    },
    "/raw": {
      "put": {
        "summary": "Store ${anything}",
        "requestBody": {"required": true, "content": {"application/json": {"schema": {}}}}
      }
    }
  }
}
"""

SWAGGER_2_YAML = """
swagger: "2.0"
info: {title: Lights}
host: lights.example
basePath: /hue
schemes: [http, https]
securityDefinitions:
  login: {type: basic}
paths:
  /lamps/{room-name}:
    get:
      parameters:
        - {name: room-name, in: path, required: true, type: string, x-example: kitchen}
        - {name: on, in: query, type: boolean}
        - {name: colors, in: query, type: array, items: {type: string}, collectionFormat: pipes}
      responses:
        200:
          schema: {type: array, items: {type: object, properties: {name: {type: string}, a-b: {}}}}
    patch:
      operationId: dimLamps
      parameters:
        - {name: room-name, in: path, required: true, type: string}
        - name: settings
          in: body
          required: true
          schema:
            type: object
            required: [level]
            properties: {level: {type: integer, maximum: 100}}
  /scenes:
    post:
      parameters:
        - {name: name, in: formData, type: string, required: true}
  /photos:
    post:
      parameters:
        - {name: file, in: formData, type: file, required: true}
"""
